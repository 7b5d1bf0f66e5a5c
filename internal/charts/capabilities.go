package charts

import (
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
)

// DefaultKubernetes is the default Kubernetes version for rendering charts: the one whose schemas are
// built in.
const DefaultKubernetes = "1.36.0"

// Capabilities describe the cluster to a chart.
type Capabilities struct {
	// Kubernetes is its version, such as "1.36.0".
	Kubernetes string
	// APIVersions that it serves, as "GROUP/VERSION" and "GROUP/VERSION/KIND".
	APIVersions []string
}

// forHelm returns the template value .Capabilities.
func (c Capabilities) forHelm() (*common.Capabilities, error) {
	caps := common.DefaultCapabilities.Copy()
	version, err := common.ParseKubeVersion(c.Kubernetes)
	if err != nil {
		return nil, err
	}
	caps.KubeVersion = *version
	caps.APIVersions = slices.Clone(c.APIVersions)
	slices.Sort(caps.APIVersions)
	caps.APIVersions = slices.Compact(caps.APIVersions)
	return caps, nil
}

// mentioned adds all API versions that a chart's templates name to the capabilities.
func (c Capabilities) mentioned(in map[string]string) Capabilities {
	all := Capabilities{c.Kubernetes, slices.Clone(c.APIVersions)}
	for _, text := range in {
		for rest := range strings.SplitSeq(text, "APIVersions.Has") {
			before, _, _ := strings.Cut(strings.TrimLeft(rest, " (\t\"'`"), "\n")
			if end := strings.IndexAny(before, "\"'` )}"); end > 0 {
				all.APIVersions = append(all.APIVersions, before[:end])
			}
		}
	}
	return all
}
