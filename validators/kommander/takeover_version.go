package kommander

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/platform"
)

// differs returns the version that Git applies if it differs from the deployed one, "" if both are the same. It
// compares the folders of both objects, otherwise the versions of their charts. open is the reason if that
// cannot be decided.
func (h *handovers) differs(t takeover, o, other *reconcile.Object) (differs, open string) {
	application, version := definitionOf(o.File)
	if application != t.application && o.Kind == kustomization {
		application, version = definitionOf(repository.Clean(o.Text("spec", "path")) + "/" + o.Name)
	}
	switch {
	case application == t.application && version == t.version:
		return "", ""
	case application == t.application:
		return version, ""
	case o.Kind == kustomization:
		return "", fmt.Sprintf("%s applies a folder that is not of a definition of %s", o, t.application)
	}
	chart := o.ChartVersion(func(id reconcile.Identity) *reconcile.Object { return h.managementCluster.All[id] })
	its := other.ChartVersion(func(id reconcile.Identity) *reconcile.Object { return h.sourceOf(t, id) })
	for _, one := range []struct {
		of      *reconcile.Object
		version string
	}{{o, chart}, {other, its}} {
		at := fmt.Sprintf("%s (%s:%d)", one.of, one.of.File, one.of.Line)
		switch {
		case one.version == "":
			return "", "no exact version of the chart of " + at + " is in Git"
		case platform.Unknown(one.version):
			return "", "the version of the chart of " + at + " is substituted by Flux"
		case helmrelease.IsRange(one.version) && !helmrelease.SameVersion(chart, its):
			return "", fmt.Sprintf("the version of the chart of %s is a range", at)
		}
	}
	if helmrelease.SameVersion(chart, its) {
		return "", ""
	}
	return "chart " + chart, ""
}

// sourceOf returns the source of a chart that a definition names: the one in the same definition, whose
// namespace the platform sets, or else one that Git applies.
func (h *handovers) sourceOf(t takeover, id reconcile.Identity) *reconcile.Object {
	for _, d := range h.defined[[2]string{t.application, t.version}] {
		if d.Group == fluxapi.SourceGroup && d.Kind == id.Kind && d.Name == id.Name {
			return d
		}
	}
	return h.managementCluster.All[id]
}
