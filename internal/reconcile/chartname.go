package reconcile

import (
	"cmp"
	"path"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// ChartName returns the name of the chart that a HelmRelease installs, "" if it is unknown. find returns the source that
// it references, nil if there is none.
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

// ChartVersion returns the version, which may be a range, of the chart that a HelmRelease or its source requests; "" if
// neither has one.
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

// chartSource returns the source that a HelmRelease names in chartRef.
func (o *Object) chartSource(find func(Identity) *Object) *Object {
	ref := func(field string) string { return o.Text("spec", "chartRef", field) }
	return find(Identity{Group: fluxapi.SourceGroup, Kind: ref("kind"), Namespace: cmp.Or(ref("namespace"), o.Namespace), Name: ref("name")})
}
