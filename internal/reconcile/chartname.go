package reconcile

import (
	"cmp"
	"path"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// ChartName is the name of the chart that a HelmRelease installs, "" where it isn't known. find gives the
// source that it refers to, nil where there is none.
func (o *Object) ChartName(find func(Identity) *Object) string {
	if name := o.Text("spec", "chart", "spec", "chart"); name != "" {
		return path.Base(name)
	}
	ref := func(field string) string { return o.Text("spec", "chartRef", field) }
	source := find(Identity{Group: fluxapi.SourceGroup, Kind: ref("kind"), Namespace: cmp.Or(ref("namespace"), o.Namespace), Name: ref("name")})
	switch {
	case source == nil:
		return ""
	case source.Kind == "HelmChart":
		return path.Base(source.Text("spec", "chart"))
	}
	return path.Base(source.Text("spec", "url"))
}
