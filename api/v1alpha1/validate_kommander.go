package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// kommanderChecker checks a Kommander.
type kommanderChecker struct {
	*productChecker
	of *Kommander
	// versions of the definitions by their applications.
	versions map[string][]string
}

func (c *checker) kommander() {
	k := c.spec.Kommander
	if k == nil {
		return
	}
	kc := &kommanderChecker{productChecker: &productChecker{checker: c, product: k}, of: k, versions: map[string][]string{}}
	kc.cluster(k.Spec.Cluster, "Kommander's Kustomizations and HelmReleases name no service account, and their sources stand in kommander-flux", "Kommander can install nothing")
	kc.release()
	kc.repositories()
	kc.rootCA()
	kc.definitions()
	kc.charts()
	kc.core()
	kc.installation()
	kc.applications(at("spec", "applications"), k.Spec.Applications, hostPlace())
	kc.catalogs()
	kc.unique(at("spec", "groups"), "group", kc.groups())
	kc.workspaces()
	kc.projects()
}

// kommanderGiven are the variables of each application's own Kustomization, which go
// before those of kommander-vars (kommander-applications; kustomize-controller, postBuild).
var kommanderGiven = []string{"appVersion", "releaseName", "releaseNamespace", "workspaceNamespace"}

// release checks the version, and that there is a Flux made of manifests.
func (c *kommanderChecker) release() {
	s := &c.of.Spec
	if !s.AtLeast(2, 4) && c.whole(c.of) {
		c.fail(c.of, at("spec", "version"), "write 2.4.0 or later", "the layout of Kommander %s is not known", s.Version)
	}
	if f := c.spec.Fleet; f != nil && f.Spec.Flux.Install != InstallBootstrap && c.whole(f) {
		c.fail(f, at("spec", "flux", "install"), "write flux: {install: bootstrap, version: "+defaultBootstrapVersion+"} in the spec of the Fleet: Kommander installs Flux in the clusters that it attaches from its manifests in this repository ("+c.productPlace()+")",
			"the Fleet installs Flux with the Flux Operator, of which Kommander can make no definition")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		switch {
		case !variableName.MatchString(name):
			c.failKey(c.of, at("spec", "variables", name), variableHint(name), "%s is not a variable's name", quote(name))
		case slices.Contains(kommanderGiven, name):
			c.failKey(c.of, at("spec", "variables", name), "take it out, and use a variable of another name", "Kommander gives each application the variable %s itself, and that one wins", quote(name))
		}
	}
}

// repositories checks the URLs and the Secrets beside them.
func (c *kommanderChecker) repositories() {
	s := &c.of.Spec
	p := at("spec", "management")
	c.url(c.of, p.child("url"), s.Management.URL)
	c.branch(c.of, p.child("branch"), s.Management.Branch)
	if s.Management.URL != "" && !strings.HasPrefix(s.Management.URL, "https://") && c.whole(c.of) {
		meant := withScheme(s.Management.URL, []string{"https"})
		if meant == "" || len(meant) > maxShown {
			meant = "https://…"
		}
		c.fail(c.of, p.child("url"), "write management: {url: '"+meant+"'} with a URL of the same repository", "Kommander's controllers write to %s with user name and password, which needs https://", quote(s.Management.URL))
	}
	c.secretOf(p, s.Cluster, "the management repository", s.Management.Keys, []string{"username", "password"}, "caFile", "ca.crt")
	if a := s.AirGapped; a != nil {
		c.url(c.of, at("spec", "airGapped", "helmMirrorURL"), a.HelmMirrorURL)
		c.secretOf(at("spec", "airGapped"), s.Cluster, "the mirror", a.Keys, []string{s.CAKey()})
	}
	if g := s.Gitea; g != nil {
		c.secretOf(at("spec", "gitea"), s.Cluster, "Gitea", g.Keys, []string{"username", "password"})
	}
	for i, u := range s.HelmRepositories {
		c.url(c.of, at("spec", "helmRepositories").item(i), u)
	}
	c.unique(at("spec", "helmRepositories"), "Helm repository", s.HelmRepositories)
}

// rootCA checks that the Secret of the certificate authority is where cert-manager reads it.
func (c *kommanderChecker) rootCA() {
	cluster := c.spec.Cluster(c.of.Spec.Cluster)
	if cluster == nil {
		return
	}
	a, namespace, sure := c.spec.certManager(cluster)
	if given := c.of.Spec.RootCA.Namespace; a != nil && sure && given != namespace && c.whole(a, c.of) {
		c.fail(c.of, at("spec", "rootCA", "namespace"), "take it out, or write "+shorten(namespace),
			"the ClusterIssuer kommander-ca never gets ready: cert-manager of %s reads its Secret in namespace %s, not in %s", c.called(a), quote(namespace), quote(given))
	}
}

// definitions gathers the applications' versions.
func (c *kommanderChecker) definitions() {
	p := at("spec", "definitions")
	defs := c.of.Spec.Definitions
	c.unique(p, "definition", gather(defs, func(d KommanderDefinition) string { return d.Name + " " + d.Version }))
	for i, d := range defs {
		p := p.item(i)
		c.versions[d.Name] = append(c.versions[d.Name], d.Version)
		c.url(c.of, p.child("chart").child("url"), d.Chart.URL)
		oci := strings.HasPrefix(d.Chart.URL, "oci://")
		switch {
		case d.Name == KommanderFluxApp:
			c.fail(c.of, p.child("name"), "take it out: its definition is made of the Fleet's Flux", "%s is not defined here", quote(d.Name))
		case oci && d.Chart.Name != "":
			c.fail(c.of, p.child("chart").child("name"), "take it out and end the URL in the chart's name", "a chart at an oci:// URL has no other name")
		case !oci && (d.Chart.SecretRef != nil || d.Chart.Verify != nil):
			c.fail(c.of, p.child("chart"), "take secretRef and verify out, or use an oci:// chart", "the Helm repository is shared by all definitions, and has no secretRef or verify of one")
		}
		if d.Version != "" && c.whole(c.of) && len(validation.IsDNS1123Subdomain(d.Version)) > 0 {
			c.fail(c.of, p.child("version"), "write a version for the application, of lower-case letters, digits, - and .", "%s is no part of a name", quote(d.Version))
		}
	}
	for i, d := range defs {
		c.names(p.item(i).child("catalog").child("dependencies"), declared{what: "definition", list: "spec.definitions", names: slices.Sorted(maps.Keys(c.versions))}, d.Catalog.Dependencies)
	}
}

// core checks that what the installation itself needs is defined.
func (c *kommanderChecker) core() {
	s := &c.of.Spec
	c.version(at("spec", "gatekeeper", "version"), KommanderGatekeeperApp, s.Gatekeeper.Version)
	c.version(at("spec", "appManagement", "version"), KommanderAppManagementApp, s.AppManagement.Version)
	if m := s.ChartMuseum; m != nil {
		c.version(at("spec", "chartMuseum", "version"), KommanderChartMuseumApp, m.Version)
	}
	if g := s.Gitea; g != nil {
		c.version(at("spec", "gitea", "version"), KommanderGiteaApp, g.Version)
	}
}

// version checks that a version of an application is defined.
func (c *kommanderChecker) version(p *fieldPath, application, version string) {
	versions := c.versions[application]
	switch {
	case version == "" || c.incomplete || c.torn("spec.definitions"):
	case versions == nil:
		add := "add it to spec.definitions, as in - {name: " + shorten(application) + ", chart: {url: …, version: " + shorten(version) + "}}"
		c.fail(c.of, p, c.report.suggest(application, "definition", add, slices.Collect(maps.Keys(c.versions))), "there is no definition of %s", quote(application))
	case !slices.Contains(versions, version):
		c.fail(c.of, p, choices("version", "add it to spec.definitions", versions), "there is no definition of version %s of %s", quote(version), quote(application))
	}
}

// deployed says whether the specification has an AppDeployment without naming it: that
// of Flux in each workspace, the others in the management cluster.
func (c *kommanderChecker) deployed(p *fieldPath, name string) bool {
	host := p.String() == "spec.applications"
	return name == KommanderFluxApp || host && (name == KommanderAppManagementApp || name == KommanderChartMuseumApp && c.of.Spec.ChartMuseum != nil)
}

// applications checks the AppDeployments of a namespace.
func (c *kommanderChecker) applications(p *fieldPath, list []KommanderApplication, place kommanderPlace) {
	clusters := place.clusters
	c.derived(p, list, place)
	c.unique(p, "application", gather(list, func(a KommanderApplication) string { return a.Name }))
	for i, a := range list {
		p := p.item(i)
		if c.deployed(p.up, a.Name) {
			c.fail(c.of, p.child("name"), "take it out: its version is that of the installation", "the installation itself deploys %s", quote(a.Name))
		}
		if a.Kind == "ClusterApp" && a.Application != KommanderFluxApp {
			c.version(p.child("version"), a.Application, a.Version)
		}
		if clusters != nil {
			c.names(p.child("clusters"), places(clusters), a.Clusters)
		}
		c.overrides(p.child("overrides"), a, clusters)
	}
}

// places are the clusters that an application may be on: the management cluster, or
// those of its workspace or project.
func places(clusters []string) declared {
	if slices.Equal(clusters, []string{KommanderHost}) {
		return declared{what: "cluster", names: clusters}
	}
	return declared{what: "cluster", list: "spec.workspaces", otherwise: "add it to the clusters of the workspace or project", names: clusters}
}

// overrides checks that each changes something on clusters that have the application.
func (c *kommanderChecker) overrides(p *fieldPath, a KommanderApplication, clusters []string) {
	c.unique(p, "override", gather(a.Overrides, func(o KommanderOverride) string { return o.Name }))
	on := places(clusters)
	if a.Clusters != nil {
		on.otherwise, on.names = "add it to the clusters of the application", a.Clusters
	}
	for i, o := range a.Overrides {
		p := p.item(i)
		if on.names != nil {
			for j, name := range o.Clusters {
				if !slices.Contains(on.names, name) {
					c.fail(c.of, p.child("clusters").item(j), on.hint(c.report, name), "%s is not on cluster %s, where the override would change it", quote(a.Name), quote(name))
				}
			}
		}
		if o.Version == "" && o.Values == nil && c.whole(c.of) {
			c.fail(c.of, p, "add a version or values, or take it out", "override %s changes nothing", quote(o.Name))
		}
		if a.Kind == "ClusterApp" {
			c.version(p.child("version"), a.Application, o.Version)
		}
	}
}
