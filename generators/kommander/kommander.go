// Package kommander generates the management repository of Kommander (D2iQ DKP, Nutanix NKP). It contains what
// Kommander's installer builds, as steps that Flux applies in order, the definitions of applications, and then
// workspaces, projects and applications.
//
// Layout, names and variables come from the tags v2.4.0 to v2.17.0 of
// https://github.com/mesosphere/kommander-applications. The kinds come from the published reference and
// documentation of DKP 2.1 to 2.8.
package kommander

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

// Generate writes the management repository of the specification's Kommander, if it has one. secrets are the
// declared Secrets with existing files. copied are the existing files of copied folders.
func Generate(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed, copied map[string][]byte) {
	g := newGenerator(out, spec, lay, secrets)
	if g == nil {
		return
	}
	g.copied = copied
	g.definitions()
	g.installation()
	g.configuration()
	g.gatekeeper()
	g.appManagement()
	g.coreApplications()
	g.applications()
	g.cluster()
	g.catalogs()
	g.groups()
	g.workspaces()
	g.projects()
	g.Write("The steps of Kommander's installation, in its order. Each waits until what it needs is healthy.",
		g.variables(layout.FluxNamespace))
}

// Products returns the release of ChartMuseum for the bootstrap of a cluster.
func Products(spec *v1alpha1.Spec, lay layout.Layout, c *v1alpha1.Cluster) []*addon.Placed {
	g := newGenerator(nil, spec, lay, nil)
	if g == nil || g.on != c || !g.bootstrapped(v1alpha1.KommanderChartMuseumApp, chartMuseumVersion(g.k)) {
		return nil
	}
	d := g.k.Definition(v1alpha1.KommanderChartMuseumApp, g.k.ChartMuseum.Version)
	return []*addon.Placed{{Addon: g.bootstrapAddon(d), Release: g.profile.releaseDir(d), File: d.Name + ".yaml"}}
}
