package schema

import (
	"fmt"
	"strconv"
	"strings"

	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// APIRemoved is the rule schema-api-removed.
var APIRemoved = rule.Rule{
	ID:       "schema-api-removed",
	Title:    "a Kubernetes API that the cluster no longer serves",
	Severity: finding.Error,
	Why: `The API server refuses an object of a version that Kubernetes removed ("no matches for kind"), and with it the whole
Kustomization that applies it: none of its objects are applied any more.

The rule takes the version of Kubernetes from --kubernetes or from the configuration. If neither names one, it assumes 1.33,
the oldest version that Flux 2.8 supports. The objects that charts render are not checked.`,
	Fix: `Write the version that the message names. "kubectl convert" rewrites an object whose fields changed.`,
	Run: func(p *rule.Pass) {
		if len(p.Fleet().Clusters) == 0 {
			return // no cluster is known to apply the files
		}
		for _, o := range p.Applied() {
			gvk := kubeschema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
			v, removed := removedIn(p, gvk)
			if !removed {
				continue
			}
			f := finding.Finding{Message: fmt.Sprintf("%s of %s was removed in Kubernetes %s", o.APIVersion, o.Kind, v.RemovedIn)}
			if v.Replacement.Kind != "" {
				f.Hint = fmt.Sprintf("write %s", v.Replacement.GroupVersion())
				if v.Replacement.Kind != o.Kind {
					f.Hint += " " + v.Replacement.Kind
				}
			}
			p.ReportBuilt(o, f, "apiVersion")
		}
	},
}

// oldestKubernetes is the minor version of the oldest Kubernetes 1 that Flux 2.8 supports.
const oldestKubernetes = 33

// removedIn returns the version of a kind of Kubernetes' own if the cluster's Kubernetes no longer serves it.
func removedIn(p *rule.Pass, gvk kubeschema.GroupVersionKind) (schemas.Version, bool) {
	if strings.HasSuffix(gvk.Group, ".fluxcd.io") || strings.HasPrefix(gvk.Group, "fluxcd.") {
		return schemas.Version{}, false // flux-api-deprecated reports it
	}
	v, known := schemas.VersionOf(gvk)
	if !known || v.RemovedIn == "" {
		return v, false
	}
	minor, ok := rule.KubernetesMinor(p.Kubernetes())
	if !ok {
		minor = oldestKubernetes
	}
	_, text, _ := strings.Cut(v.RemovedIn, ".")
	removed, err := strconv.Atoi(text)
	return v, err == nil && removed <= minor
}
