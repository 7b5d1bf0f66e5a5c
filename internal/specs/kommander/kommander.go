// Package kommander checks the Kommander of a specification.
package kommander

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// checker checks a Kommander.
type checker struct {
	*check.Product
	of *v1alpha1.Kommander
	// versions of the definitions by their applications.
	versions map[string][]string
}

// Check checks the specification's Kommander, if it has one.
func Check(c *check.Checker) {
	k := v1alpha1.ProductOf[*v1alpha1.Kommander](c.Spec)
	if k == nil {
		return
	}
	kc := &checker{Product: check.NewProduct(c, k), of: k, versions: map[string][]string{}}
	kc.Cluster(k.Spec.Cluster, "Kommander's Kustomizations and HelmReleases name no service account, and their sources stand in kommander-flux", "Kommander can install nothing")
	kc.release()
	kc.repositories()
	kc.rootCA()
	kc.definitions()
	kc.charts()
	kc.core()
	kc.installation()
	kc.applications(strict.At("spec", "applications"), k.Spec.Applications, hostPlace())
	kc.catalogs()
	kc.Unique(strict.At("spec", "groups"), "group", kc.groups())
	kc.workspaces()
	kc.projects()
}

// given are the variables of each application's own Kustomization, which go
// before those of kommander-vars (kommander-applications; kustomize-controller, postBuild).
var given = []string{"appVersion", "releaseName", "releaseNamespace", "workspaceNamespace"}

// release checks the version, and that there is a Flux made of manifests.
func (c *checker) release() {
	s := &c.of.Spec
	if !s.AtLeast(2, 4) && c.Whole(c.of) {
		c.Fail(c.of, strict.At("spec", "version"), "write 2.4.0 or later", "the layout of Kommander %s is not known", s.Version)
	}
	if f := c.Spec.Fleet; f != nil && f.Spec.Flux.Install != v1alpha1.InstallBootstrap && c.Whole(f) {
		c.Fail(f, strict.At("spec", "flux", "install"), "write flux: {install: bootstrap, version: "+v1alpha1.DefaultBootstrapVersion+"} in the spec of the Fleet: Kommander installs Flux in the clusters that it attaches from its manifests in this repository ("+c.ProductPlace()+")",
			"the Fleet installs Flux with the Flux Operator, of which Kommander can make no definition")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		switch {
		case !check.VariableName.MatchString(name):
			c.FailKey(c.of, strict.At("spec", "variables", name), check.VariableHint(name), "%s is not a variable's name", strict.Quote(name))
		case slices.Contains(given, name):
			c.FailKey(c.of, strict.At("spec", "variables", name), "take it out, and use a variable of another name", "Kommander gives each application the variable %s itself, and that one wins", strict.Quote(name))
		}
	}
}

// repositories checks the URLs and the Secrets beside them.
func (c *checker) repositories() {
	s := &c.of.Spec
	p := strict.At("spec", "management")
	c.URL(c.of, p.Child("url"), s.Management.URL)
	c.Branch(c.of, p.Child("branch"), s.Management.Branch)
	if s.Management.URL != "" && !strings.HasPrefix(s.Management.URL, "https://") && c.Whole(c.of) {
		meant := strict.WithScheme(s.Management.URL, []string{"https"})
		if meant == "" || len(meant) > strict.MaxShown {
			meant = "https://…"
		}
		c.Fail(c.of, p.Child("url"), "write management: {url: '"+meant+"'} with a URL of the same repository", "Kommander's controllers write to %s with user name and password, which needs https://", strict.Quote(s.Management.URL))
	}
	c.SecretOf(p, s.Cluster, "the management repository", s.Management.Keys, []string{"username", "password"}, "caFile", "ca.crt")
	if a := s.AirGapped; a != nil {
		c.URL(c.of, strict.At("spec", "airGapped", "helmMirrorURL"), a.HelmMirrorURL)
		c.SecretOf(strict.At("spec", "airGapped"), s.Cluster, "the mirror", a.Keys, []string{s.CAKey()})
	}
	if g := s.Gitea; g != nil {
		c.SecretOf(strict.At("spec", "gitea"), s.Cluster, "Gitea", g.Keys, []string{"username", "password"})
	}
	for i, u := range s.HelmRepositories {
		c.URL(c.of, strict.At("spec", "helmRepositories").Item(i), u)
	}
	c.Unique(strict.At("spec", "helmRepositories"), "Helm repository", s.HelmRepositories)
}

// rootCA checks that the Secret of the certificate authority is where cert-manager reads it.
func (c *checker) rootCA() {
	cluster := c.Spec.Cluster(c.of.Spec.Cluster)
	if cluster == nil {
		return
	}
	a, namespace, sure := c.Spec.CertManager(cluster)
	if given := c.of.Spec.RootCA.Namespace; a != nil && sure && given != namespace && c.Whole(a, c.of) {
		c.Fail(c.of, strict.At("spec", "rootCA", "namespace"), "take it out, or write "+strict.Shorten(namespace),
			"the ClusterIssuer kommander-ca never gets ready: cert-manager of %s reads its Secret in namespace %s, not in %s", c.Called(a), strict.Quote(namespace), strict.Quote(given))
	}
}

// definitions gathers the applications' versions.
func (c *checker) definitions() {
	p := strict.At("spec", "definitions")
	defs := c.of.Spec.Definitions
	c.Unique(p, "definition", check.Gather(defs, func(d v1alpha1.KommanderDefinition) string { return d.Name + " " + d.Version }))
	for i, d := range defs {
		p := p.Item(i)
		c.versions[d.Name] = append(c.versions[d.Name], d.Version)
		c.URL(c.of, p.Child("chart").Child("url"), d.Chart.URL)
		oci := strings.HasPrefix(d.Chart.URL, "oci://")
		switch {
		case d.Name == v1alpha1.KommanderFluxApp:
			c.Fail(c.of, p.Child("name"), "take it out: its definition is made of the Fleet's Flux", "%s is not defined here", strict.Quote(d.Name))
		case oci && d.Chart.Name != "":
			c.Fail(c.of, p.Child("chart").Child("name"), "take it out and end the URL in the chart's name", "a chart at an oci:// URL has no other name")
		case !oci && (d.Chart.SecretRef != nil || d.Chart.Verify != nil):
			c.Fail(c.of, p.Child("chart"), "take secretRef and verify out, or use an oci:// chart", "the Helm repository is shared by all definitions, and has no secretRef or verify of one")
		}
		if d.Version != "" && c.Whole(c.of) && len(validation.IsDNS1123Subdomain(d.Version)) > 0 {
			c.Fail(c.of, p.Child("version"), "write a version for the application, of lower-case letters, digits, - and .", "%s is no part of a name", strict.Quote(d.Version))
		}
	}
	for i, d := range defs {
		c.Names(p.Item(i).Child("catalog").Child("dependencies"), check.Declared{What: "definition", List: "spec.definitions", Names: slices.Sorted(maps.Keys(c.versions))}, d.Catalog.Dependencies)
	}
}

// core checks that what the installation itself needs is defined.
func (c *checker) core() {
	s := &c.of.Spec
	c.version(strict.At("spec", "gatekeeper", "version"), v1alpha1.KommanderGatekeeperApp, s.Gatekeeper.Version)
	c.version(strict.At("spec", "appManagement", "version"), v1alpha1.KommanderAppManagementApp, s.AppManagement.Version)
	if m := s.ChartMuseum; m != nil {
		c.version(strict.At("spec", "chartMuseum", "version"), v1alpha1.KommanderChartMuseumApp, m.Version)
	}
	if g := s.Gitea; g != nil {
		c.version(strict.At("spec", "gitea", "version"), v1alpha1.KommanderGiteaApp, g.Version)
	}
}

// version checks that a version of an application is defined.
func (c *checker) version(p *strict.Path, application, version string) {
	versions := c.versions[application]
	switch {
	case version == "" || c.Incomplete || c.Torn("spec.definitions"):
	case versions == nil:
		add := "add it to spec.definitions, as in - {name: " + strict.Shorten(application) + ", chart: {url: …, version: " + strict.Shorten(version) + "}}"
		c.Fail(c.of, p, c.Report.Suggest(application, "definition", add, slices.Collect(maps.Keys(c.versions))), "there is no definition of %s", strict.Quote(application))
	case !slices.Contains(versions, version):
		c.Fail(c.of, p, strict.Choices("version", "add it to spec.definitions", versions), "there is no definition of version %s of %s", strict.Quote(version), strict.Quote(application))
	}
}

// deployed says whether the specification has an AppDeployment without naming it: that
// of Flux in each workspace, the others in the management cluster.
func (c *checker) deployed(p *strict.Path, name string) bool {
	host := p.String() == "spec.applications"
	return name == v1alpha1.KommanderFluxApp || host && (name == v1alpha1.KommanderAppManagementApp || name == v1alpha1.KommanderChartMuseumApp && c.of.Spec.ChartMuseum != nil)
}

// applications checks the AppDeployments of a namespace.
func (c *checker) applications(p *strict.Path, list []v1alpha1.KommanderApplication, place place) {
	clusters := place.clusters
	c.derived(p, list, place)
	c.Unique(p, "application", check.Gather(list, func(a v1alpha1.KommanderApplication) string { return a.Name }))
	for i, a := range list {
		p := p.Item(i)
		if c.deployed(p.Up, a.Name) {
			c.Fail(c.of, p.Child("name"), "take it out: its version is that of the installation", "the installation itself deploys %s", strict.Quote(a.Name))
		}
		if a.Kind == "ClusterApp" && a.Application != v1alpha1.KommanderFluxApp {
			c.version(p.Child("version"), a.Application, a.Version)
		}
		if clusters != nil {
			c.Names(p.Child("clusters"), places(clusters), a.Clusters)
		}
		c.overrides(p.Child("overrides"), a, clusters)
	}
}

// places are the clusters that an application may be on: the management cluster, or
// those of its workspace or project.
func places(clusters []string) check.Declared {
	if slices.Equal(clusters, []string{v1alpha1.KommanderHost}) {
		return check.Declared{What: "cluster", Names: clusters}
	}
	return check.Declared{What: "cluster", List: "spec.workspaces", Otherwise: "add it to the clusters of the workspace or project", Names: clusters}
}

// overrides checks that each changes something on clusters that have the application.
func (c *checker) overrides(p *strict.Path, a v1alpha1.KommanderApplication, clusters []string) {
	c.Unique(p, "override", check.Gather(a.Overrides, func(o v1alpha1.KommanderOverride) string { return o.Name }))
	on := places(clusters)
	if a.Clusters != nil {
		on.Otherwise, on.Names = "add it to the clusters of the application", a.Clusters
	}
	for i, o := range a.Overrides {
		p := p.Item(i)
		if on.Names != nil {
			for j, name := range o.Clusters {
				if !slices.Contains(on.Names, name) {
					c.Fail(c.of, p.Child("clusters").Item(j), on.Hint(c.Report, name), "%s is not on cluster %s, where the override would change it", strict.Quote(a.Name), strict.Quote(name))
				}
			}
		}
		if o.Version == "" && o.Values == nil && c.Whole(c.of) {
			c.Fail(c.of, p, "add a version or values, or take it out", "override %s changes nothing", strict.Quote(o.Name))
		}
		if a.Kind == "ClusterApp" {
			c.version(p.Child("version"), a.Application, o.Version)
		}
	}
}
