package kommander

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// place is a namespace that contains AppDeployments.
type place struct {
	namespace string
	// workspace whose clusters get the applications, and the clusters: nil for all clusters of the
	// workspace, unless a project selects some of them.
	workspace string
	clusters  []string
	selected  bool
}

// adopted are the applications that a step of the installation installs and that an AppDeployment with the same name
// takes over.
var adopted = []string{v1alpha1.KommanderGatekeeperApp, v1alpha1.KommanderGiteaApp, v1alpha1.KommanderAppManagementApp, v1alpha1.KommanderChartMuseumApp}

// derived records the objects that the AppDeployments of a namespace create, in the namespace and on clusters.
func (c *checker) derived(p *strict.Path, list []v1alpha1.KommanderApplication, at place) {
	for i, a := range list {
		p, by := p.Item(i).Child("name"), "AppDeployment "+at.namespace+"/"+a.Name
		note := func(p *strict.Path, by, way, kind, namespace, name string) {
			c.Record(check.Claim{Path: p, By: by, Way: way}, "", kind+" "+path.Join(namespace, name))
		}
		namespace, name := v1alpha1.KommanderKustomization(at.namespace, a.Name)
		note(p, by, "use another name and set application: "+strict.Shorten(a.Application), "Kustomization", namespace, name)
		if len(a.Values) > 0 {
			note(p, by, "choose another name", "ConfigMap", at.namespace, a.Name+"-overrides")
		}
		for j, o := range a.Overrides {
			if len(o.Values) > 0 {
				note(p.Up.Child("overrides").Item(j).Child("name"), "override "+strict.Quote(o.Name)+" of "+by, "choose another name", "ConfigMap", at.namespace, a.Name+"-"+o.Name+"-overrides")
			}
		}
		if a.Kind == "ClusterApp" && (at.namespace != v1alpha1.KommanderNamespace || a.Name != a.Application || !slices.Contains(adopted, a.Name)) {
			c.installed(check.Claim{Path: p, By: by}, a, at)
		}
	}
}

// installed records the objects that the definition of an application creates on the clusters that get
// it: a HelmRelease with the application's name, whatever the AppDeployment's name is, and
// the Helm release in the definition.
func (c *checker) installed(k check.Claim, a v1alpha1.KommanderApplication, at place) {
	k.Way = "use overrides for some clusters, or select different clusters in each"
	c.Record(k, at.namespace, "HelmRelease "+path.Join(at.namespace, a.Application), a.Clusters...)
	k.Way = "set another releaseName or namespace in one of the definitions, or use different clusters"
	release := func(version string, clusters []string) {
		d := c.of.Spec.Definition(a.Application, version)
		if d == nil {
			return
		}
		object := "the Helm release " + path.Join(cmp.Or(d.Namespace, at.namespace), d.ReleaseName)
		c.Record(k, at.namespace, object, clusters...)
		if clusters == nil {
			clusters = at.clusters
		}
		if clusters == nil && at.selected {
			clusters = []string{} // some of the workspace's clusters
		}
		c.Record(k, "workspace "+at.workspace, object, clusters...)
	}
	release(a.Version, a.Clusters)
	for _, o := range a.Overrides {
		if o.Version != "" {
			release(o.Version, o.Clusters)
		}
	}
}

// installation records the objects that the steps of the installation create in the management cluster.
func (c *checker) installation() {
	s := &c.of.Spec
	c.Record(check.Claim{By: "the sync of Kommander's own applications"}, "", "Kustomization "+path.Join(v1alpha1.KommanderNamespace, v1alpha1.AppsKommander))
	core := map[string]string{v1alpha1.KommanderGatekeeperApp: s.Gatekeeper.Version, v1alpha1.KommanderAppManagementApp: s.AppManagement.Version}
	if s.ChartMuseum != nil {
		core[v1alpha1.KommanderChartMuseumApp] = s.ChartMuseum.Version
	}
	if s.Gitea != nil {
		core[v1alpha1.KommanderGiteaApp] = s.Gitea.Version
	}
	for _, name := range adopted {
		if version := core[name]; version != "" {
			c.installed(check.Claim{By: "the installation"}, v1alpha1.KommanderApplication{Application: name, Version: version}, hostPlace())
		}
	}
}

// hostPlace returns the place of the management cluster's applications.
func hostPlace() place {
	return place{v1alpha1.KommanderNamespace, v1alpha1.KommanderOwnWorkspace, []string{v1alpha1.KommanderHost}, false}
}

// charts records the HelmRepositories, whose names are derived from their URLs.
func (c *checker) charts() {
	s := &c.of.Spec
	note := func(p *strict.Path, url string) {
		if name := v1alpha1.KommanderHelmRepository(url); name != "" {
			c.Record(check.Claim{Path: p, By: "the repository " + strict.Quote(strings.TrimRight(url, "/")), Way: "use the same settings in both"}, "", "HelmRepository "+path.Join(v1alpha1.KommanderFluxNamespace, name))
		}
	}
	for i, d := range s.Definitions {
		if !strings.HasPrefix(d.Chart.URL, "oci://") {
			note(strict.At("spec", "definitions").Item(i).Child("chart").Child("url"), d.Chart.URL)
		}
	}
	for i, url := range s.HelmRepositories {
		note(strict.At("spec", "helmRepositories").Item(i), url)
	}
}
