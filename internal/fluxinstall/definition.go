package fluxinstall

import (
	"cmp"
	"net/url"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// InstanceChart is the chart that creates a FluxInstance.
const InstanceChart = "flux-instance"

// Definition says which Flux runs: a FluxInstance, the values of the chart that makes one,
// Flux's own manifests, or the source that they come from.
type Definition struct {
	located.Place
	// What it is, as messages name it.
	What string
	// Version of Flux: "" where nothing pins it. A FluxInstance may have a range.
	Version located.Text
	// Spec of a FluxInstance, nil of anything else; fromChart says that the chart makes it,
	// which has defaults of its own, and open why it is not known as a whole.
	Spec      *located.Value
	FromChart bool
	Open      []located.Unknown
	// Components are the controllers in manifests, sorted; nil where they are not at hand.
	Components []string
	// Sync is the pair that `flux bootstrap` makes instead, a Kustomization and its source, and
	// nothing else is known then; nil of all others.
	Sync *located.Value
}

// fluxManifests are references to Flux's own manifests: a kustomization in its repository, or
// the file of a release.
var (
	fluxFolder  = regexp.MustCompile(`github\.com[/:]fluxcd/flux2(\.git)?//?manifests/install/?(\?(.*))?$`)
	fluxRelease = regexp.MustCompile(`github\.com/fluxcd/flux2/releases/(latest/download|download/([^/]+))/install\.yaml$`)
	fluxSource  = regexp.MustCompile(`github\.com[/:]fluxcd/flux2(\.git)?/?$`)
)

// fluxReference is the version of Flux's manifests that a resource of a kustomization names,
// "" where it pins none; not ok where the resource is something else.
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

// InKustomization reads Flux's manifests out of a kustomization's resources.
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

// FromInstance reads the spec of a FluxInstance.
func FromInstance(at located.Place, what string, spec *located.Value, fromChart bool, open []located.Unknown) Definition {
	d := Definition{Place: at, What: what, Spec: normalInstance(spec, fromChart), FromChart: fromChart, Open: open}
	d.Version = located.TextAt(d.Spec, "distribution", "version")
	return d
}
