package flux

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/wellknown"
)

// defines returns the API groups whose CustomResourceDefinitions a HelmRelease installs.
func (w *world) defines(o *reconcile.Object) []string {
	if release := w.cluster.Release(o); release != nil {
		var groups []string
		for _, object := range release.All() {
			if object.Kind == "CustomResourceDefinition" {
				groups = append(groups, text(object.Value, "spec", "group"))
			}
		}
		slices.Sort(groups)
		return slices.Compact(groups)
	}
	if text(o.Value, "spec", "install", "crds") == "Skip" || field(o.Value, "spec", "kubeConfig") != nil {
		return nil
	}
	values := field(o.Value, "spec", "values")
	return wellknown.Defines(o.ChartName(w.find), func(path ...string) any { return field(values, path...) })
}
