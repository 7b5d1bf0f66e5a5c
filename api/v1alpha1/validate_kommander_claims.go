package v1alpha1

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// kommanderPlace is a namespace with AppDeployments.
type kommanderPlace struct {
	namespace string
	// workspace whose clusters get them, and the clusters: nil for all of the
	// workspace's, unless a project selects some of them.
	workspace string
	clusters  []string
	selected  bool
}

// KommanderKustomization is the namespace and name of the Kustomization that Kommander
// makes of an AppDeployment: its own. Source: kommander-applications v2.8 to v2.17, whose
// velero waits for the Kustomization rook-ceph-cluster in ${releaseNamespace}, that of an
// AppDeployment: no definition has one of this name.
func KommanderKustomization(namespace, name string) (string, string) { return namespace, name }

// adopted are the applications that a step installs and an AppDeployment of their name
// takes over.
var adopted = []string{KommanderGatekeeperApp, KommanderGiteaApp, KommanderAppManagementApp, KommanderChartMuseumApp}

// derived notes what the AppDeployments of a namespace make, there and on clusters.
func (c *kommanderChecker) derived(p *fieldPath, list []KommanderApplication, at kommanderPlace) {
	for i, a := range list {
		p, by := p.item(i).child("name"), "AppDeployment "+at.namespace+"/"+a.Name
		note := func(p *fieldPath, by, way, kind, namespace, name string) {
			c.makes(claim{p, by, way}, "", kind+" "+path.Join(namespace, name))
		}
		namespace, name := KommanderKustomization(at.namespace, a.Name)
		note(p, by, "choose another name and write application: "+shorten(a.Application), "Kustomization", namespace, name)
		if len(a.Values) > 0 {
			note(p, by, "choose another name", "ConfigMap", at.namespace, a.Name+"-overrides")
		}
		for j, o := range a.Overrides {
			if len(o.Values) > 0 {
				note(p.up.child("overrides").item(j).child("name"), "override "+quote(o.Name)+" of "+by, "choose another name", "ConfigMap", at.namespace, a.Name+"-"+o.Name+"-overrides")
			}
		}
		if a.Kind == "ClusterApp" && (at.namespace != KommanderNamespace || a.Name != a.Application || !slices.Contains(adopted, a.Name)) {
			c.installed(claim{path: p, by: by}, a, at)
		}
	}
}

// installed notes what the definition of an application makes on the clusters that get
// it: a HelmRelease of the application's name, whatever the AppDeployment is called, and
// the Helm release that it says.
func (c *kommanderChecker) installed(k claim, a KommanderApplication, at kommanderPlace) {
	k.way = "change the application on some clusters with overrides, or give each other clusters"
	c.makes(k, at.namespace, "HelmRelease "+path.Join(at.namespace, a.Application), a.Clusters...)
	k.way = "give one of the definitions another releaseName or namespace, or each other clusters"
	release := func(version string, clusters []string) {
		d := c.of.Spec.Definition(a.Application, version)
		if d == nil {
			return
		}
		object := "the Helm release " + path.Join(cmp.Or(d.Namespace, at.namespace), d.ReleaseName)
		c.makes(k, at.namespace, object, clusters...)
		if clusters == nil {
			clusters = at.clusters
		}
		if clusters == nil && at.selected {
			clusters = []string{} // some of the workspace's
		}
		c.makes(k, "workspace "+at.workspace, object, clusters...)
	}
	release(a.Version, a.Clusters)
	for _, o := range a.Overrides {
		if o.Version != "" {
			release(o.Version, o.Clusters)
		}
	}
}

// installation notes what the steps of the installation make in the management cluster.
func (c *kommanderChecker) installation() {
	s := &c.of.Spec
	c.makes(claim{by: "the sync of Kommander's own applications"}, "", "Kustomization "+path.Join(KommanderNamespace, AppsKommander))
	core := map[string]string{KommanderGatekeeperApp: s.Gatekeeper.Version, KommanderAppManagementApp: s.AppManagement.Version}
	if s.ChartMuseum != nil {
		core[KommanderChartMuseumApp] = s.ChartMuseum.Version
	}
	if s.Gitea != nil {
		core[KommanderGiteaApp] = s.Gitea.Version
	}
	for _, name := range adopted {
		if version := core[name]; version != "" {
			c.installed(claim{by: "the installation"}, KommanderApplication{Application: name, Version: version}, hostPlace())
		}
	}
}

// hostPlace is that of the management cluster's applications.
func hostPlace() kommanderPlace {
	return kommanderPlace{KommanderNamespace, kommanderOwnWorkspace, []string{KommanderHost}, false}
}

// charts notes the HelmRepositories, whose names are made of their URLs.
func (c *kommanderChecker) charts() {
	s := &c.of.Spec
	note := func(p *fieldPath, url string) {
		if name := KommanderHelmRepository(url); name != "" {
			c.makes(claim{p, "the repository " + quote(strings.TrimRight(url, "/")), "write one of them as the other one is"}, "", "HelmRepository "+path.Join(KommanderFluxNamespace, name))
		}
	}
	for i, d := range s.Definitions {
		if !strings.HasPrefix(d.Chart.URL, "oci://") {
			note(at("spec", "definitions").item(i).child("chart").child("url"), d.Chart.URL)
		}
	}
	for i, url := range s.HelmRepositories {
		note(at("spec", "helmRepositories").item(i), url)
	}
}
