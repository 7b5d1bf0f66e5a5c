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
	source := o.chartSource(find)
	switch {
	case source == nil:
		return ""
	case source.Kind == "HelmChart":
		return path.Base(source.Text("spec", "chart"))
	}
	return path.Base(source.Text("spec", "url"))
}

// ChartVersion returns the version of the chart that a HelmRelease, or its source, asks for, which may be a
// range; "" where neither says one.
func (o *Object) ChartVersion(find func(Identity) *Object) string {
	if o.Field("spec", "chart") != nil {
		return o.Text("spec", "chart", "spec", "version")
	}
	source := o.chartSource(find)
	switch {
	case source == nil || source.Text("spec", "ref", "digest") != "":
		return ""
	case source.Kind == "HelmChart":
		return source.Text("spec", "version")
	}
	return cmp.Or(source.Text("spec", "ref", "semver"), source.Text("spec", "ref", "tag"))
}

// chartSource is the source that a HelmRelease names in chartRef.
func (o *Object) chartSource(find func(Identity) *Object) *Object {
	ref := func(field string) string { return o.Text("spec", "chartRef", field) }
	return find(Identity{Group: fluxapi.SourceGroup, Kind: ref("kind"), Namespace: cmp.Or(ref("namespace"), o.Namespace), Name: ref("name")})
}
