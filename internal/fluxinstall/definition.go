package fluxinstall

import (
	"cmp"
	"net/url"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// InstanceChart is the chart that creates a FluxInstance.
const InstanceChart = "flux-instance"

// Definition determines the version of Flux: it is a FluxInstance, the values of the chart that creates one,
// Flux's own manifests, or the source that contains them.
type Definition struct {
	finding.Place
	// What names the definition in messages.
	What string
	// Version of Flux: "" if it is not pinned. A FluxInstance may have a range.
	Version located.Text
	// Spec is the spec of a FluxInstance, nil for other definitions. FromChart is set if the chart creates the FluxInstance:
	// the chart has defaults of its own. Open lists why parts of the spec are unknown.
	Spec      *located.Value
	FromChart bool
	Open      []located.Unknown
	// Components are the controllers in manifests, sorted; nil if the manifests are not available.
	Components []string
	// Instance is the name of the installation in the labels of manifests, which is its namespace;
	// "" if it is unknown.
	Instance string
	// Sync is the Kustomization and its source that `flux bootstrap` creates; then the other fields are
	// empty. It is nil for other definitions.
	Sync *located.Value
}

// Other reports whether two definitions certainly belong to different installations.
func (d Definition) Other(of Definition) bool {
	return d.Instance != "" && of.Instance != "" && d.Instance != of.Instance
}

// Patterns for references to Flux's own manifests: a kustomization in its repository, or
// the file of a release.
var (
	fluxFolder  = regexp.MustCompile(`github\.com[/:]fluxcd/flux2(\.git)?//?manifests/install/?(\?(.*))?$`)
	fluxRelease = regexp.MustCompile(`github\.com/fluxcd/flux2/releases/(latest/download|download/([^/]+))/install\.yaml$`)
	fluxSource  = regexp.MustCompile(`github\.com[/:]fluxcd/flux2(\.git)?/?$`)
)

// fluxReference returns the version of Flux's manifests that a resource of a kustomization refers to,
// or "" if it pins none. It returns false if the resource is something else.
func fluxReference(resource string) (version string, ok bool) {
	if m := fluxRelease.FindStringSubmatch(resource); m != nil {
		return m[2], true
	}
	m := fluxFolder.FindStringSubmatch(resource)
	if m == nil {
		return "", false
	}
	query, err := url.ParseQuery(m[3])
	if err != nil {
		return "", true
	}
	return cmp.Or(query.Get("ref"), query.Get("version")), true
}

// InKustomization returns the definition of Flux in a kustomization's resources, and whether there is one.
func InKustomization(k *repository.Kustomize) (Definition, bool) {
	if k.Document == nil {
		return Definition{}, false
	}
	file := k.File.Path
	for _, field := range []string{"resources", "bases"} {
		for _, item := range located.Items(k.Document.Root(), field) {
			if item.Kind != yaml.ScalarNode {
				continue
			}
			if version, ok := fluxReference(item.Value); ok {
				at := located.At(file, item.Line)
				return Definition{Place: at, What: "Flux's manifests", Version: located.Text{Place: at, Value: version}}, true
			}
		}
	}
	return Definition{}, false
}

// FromInstance returns the definition from the spec of a FluxInstance.
func FromInstance(at finding.Place, what string, spec *located.Value, fromChart bool, open []located.Unknown) Definition {
	d := Definition{Place: at, What: what, Spec: normalInstance(spec, fromChart), FromChart: fromChart, Open: open}
	d.Version = located.TextAt(d.Spec, "distribution", "version")
	return d
}
