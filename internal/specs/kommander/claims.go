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

// place is a namespace with AppDeployments.
type place struct {
	namespace string
	// workspace whose clusters get them, and the clusters: nil for all of the
	// workspace's, unless a project selects some of them.
	workspace string
	clusters  []string
	selected  bool
}

// adopted are the applications that a step installs and an AppDeployment of their name
// takes over.
var adopted = []string{v1alpha1.KommanderGatekeeperApp, v1alpha1.KommanderGiteaApp, v1alpha1.KommanderAppManagementApp, v1alpha1.KommanderChartMuseumApp}

// derived notes what the AppDeployments of a namespace make, there and on clusters.
func (c *checker) derived(p *strict.Path, list []v1alpha1.KommanderApplication, at place) {
	for i, a := range list {
		p, by := p.Item(i).Child("name"), "AppDeployment "+at.namespace+"/"+a.Name
		note := func(p *strict.Path, by, way, kind, namespace, name string) {
			c.Makes(check.Claim{Path: p, By: by, Way: way}, "", kind+" "+path.Join(namespace, name))
		}
		namespace, name := v1alpha1.KommanderKustomization(at.namespace, a.Name)
		note(p, by, "choose another name and write application: "+strict.Shorten(a.Application), "Kustomization", namespace, name)
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

// installed notes what the definition of an application makes on the clusters that get
// it: a HelmRelease of the application's name, whatever the AppDeployment is called, and
// the Helm release that it says.
func (c *checker) installed(k check.Claim, a v1alpha1.KommanderApplication, at place) {
	k.Way = "change the application on some clusters with overrides, or give each other clusters"
	c.Makes(k, at.namespace, "HelmRelease "+path.Join(at.namespace, a.Application), a.Clusters...)
	k.Way = "give one of the definitions another releaseName or namespace, or each other clusters"
	release := func(version string, clusters []string) {
		d := c.of.Spec.Definition(a.Application, version)
		if d == nil {
			return
		}
		object := "the Helm release " + path.Join(cmp.Or(d.Namespace, at.namespace), d.ReleaseName)
		c.Makes(k, at.namespace, object, clusters...)
		if clusters == nil {
			clusters = at.clusters
		}
		if clusters == nil && at.selected {
			clusters = []string{} // some of the workspace's
		}
		c.Makes(k, "workspace "+at.workspace, object, clusters...)
	}
	release(a.Version, a.Clusters)
	for _, o := range a.Overrides {
		if o.Version != "" {
			release(o.Version, o.Clusters)
		}
	}
}

// installation notes what the steps of the installation make in the management cluster.
func (c *checker) installation() {
	s := &c.of.Spec
	c.Makes(check.Claim{By: "the sync of Kommander's own applications"}, "", "Kustomization "+path.Join(v1alpha1.KommanderNamespace, v1alpha1.AppsKommander))
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

// hostPlace is that of the management cluster's applications.
func hostPlace() place {
	return place{v1alpha1.KommanderNamespace, v1alpha1.KommanderOwnWorkspace, []string{v1alpha1.KommanderHost}, false}
}

// charts notes the HelmRepositories, whose names are made of their URLs.
func (c *checker) charts() {
	s := &c.of.Spec
	note := func(p *strict.Path, url string) {
		if name := v1alpha1.KommanderHelmRepository(url); name != "" {
			c.Makes(check.Claim{Path: p, By: "the repository " + strict.Quote(strings.TrimRight(url, "/")), Way: "write one of them as the other one is"}, "", "HelmRepository "+path.Join(v1alpha1.KommanderFluxNamespace, name))
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
