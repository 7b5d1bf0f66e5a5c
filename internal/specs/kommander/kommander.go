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
	// versions are the versions of the definitions by application.
	versions map[string][]string
}

// Check checks the specification's Kommander, if it has one.
func Check(c *check.Checker) {
	k := v1alpha1.ProductOf[*v1alpha1.Kommander](c.Spec)
	if k == nil {
		return
	}
	kc := &checker{Product: check.NewProduct(c, k), of: k, versions: map[string][]string{}}
	kc.Cluster(k.Spec.Cluster, "Kommander's Kustomizations and HelmReleases have no service account, and their sources are in kommander-flux", "Kommander can install nothing")
	kc.release()
	kc.repositories()
	kc.rootCA()
	kc.existing()
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

// ownVariables are the variables of each application's own Kustomization, which take
// precedence over those of kommander-vars (kommander-applications; kustomize-controller, postBuild).
var ownVariables = []string{"appVersion", "releaseName", "releaseNamespace", "workspaceNamespace"}

// release checks the version, and that Flux is installed from manifests.
func (c *checker) release() {
	s := &c.of.Spec
	if !s.AtLeast(2, 4) && c.Whole(c.of) {
		c.Fail(c.of, strict.At("spec", "version"), "write 2.4.0 or later", "the layout of Kommander %s is unknown", s.Version)
	}
	if f := c.Spec.Fleet; f != nil && f.Spec.Flux.Install != v1alpha1.InstallBootstrap && c.Whole(f) {
		c.Fail(f, strict.At("spec", "flux", "install"), "write flux: {install: bootstrap, version: "+v1alpha1.DefaultBootstrapVersion+"} in the spec of the Fleet: Kommander installs Flux in the clusters that it attaches from its manifests in this repository ("+c.ProductPlace()+")",
			"the Fleet installs Flux with the Flux Operator, which Kommander cannot use in a definition")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		switch {
		case !check.VariableName.MatchString(name):
			c.FailKey(c.of, strict.At("spec", "variables", name), check.VariableHint(name), "%s is not a variable's name", strict.Quote(name))
		case slices.Contains(ownVariables, name):
			c.FailKey(c.of, strict.At("spec", "variables", name), "remove it, and use another variable name", "Kommander sets the variable %s for each application itself, and overrides this one", strict.Quote(name))
		}
	}
}

// repositories checks the URLs of repositories and their Secrets.
func (c *checker) repositories() {
	s := &c.of.Spec
	p := strict.At("spec", "management")
	c.URL(c.of, p.Child("url"), s.Management.URL)
	c.Branch(c.of, p.Child("branch"), s.Management.Branch)
	if s.Management.URL != "" && !strings.HasPrefix(s.Management.URL, "https://") && c.Whole(c.of) {
		corrected := strict.WithScheme(s.Management.URL, []string{"https"})
		if corrected == "" || len(corrected) > strict.MaxShown {
			corrected = "https://…"
		}
		c.Fail(c.of, p.Child("url"), "write management: {url: '"+corrected+"'} with a URL of the same repository", "Kommander's controllers write to %s with a user name and password, which requires https://", strict.Quote(s.Management.URL))
	}
	c.SecretOf(p, s.Cluster, "the management repository", s.Management.Keys, []string{"username", "password"}, "caFile", "ca.crt")
	if a := s.AirGapped; a != nil {
		c.URL(c.of, strict.At("spec", "airGapped", "helmMirrorURL"), a.HelmMirrorURL)
		c.SecretOf(strict.At("spec", "airGapped"), s.Cluster, "the mirror", a.Keys, []string{s.CAKey()})
	}
	if i := s.Ingress; i != nil && i.Certificate != nil {
		p := strict.At("spec", "ingress", "certificate")
		c.SecretOf(p, s.Cluster, "the ingress", i.Certificate.Keys, []string{"tls.crt", "tls.key"}, "ca.crt")
		if i.ACME != nil {
			c.Fail(c.of, p, "keep one of them", "the ingress has both a certificate and acme")
		}
	}
	if g := s.Gitea; g != nil {
		c.SecretOf(strict.At("spec", "gitea"), s.Cluster, "Gitea", g.Keys, []string{"username", "password"})
	}
	for i, u := range s.HelmRepositories {
		c.URL(c.of, strict.At("spec", "helmRepositories").Item(i), u)
	}
	c.Unique(strict.At("spec", "helmRepositories"), "Helm repository", s.HelmRepositories)
}

// rootCA checks that the Secret of the certificate authority is in the namespace from which cert-manager reads it.
func (c *checker) rootCA() {
	cluster := c.Spec.Cluster(c.of.Spec.Cluster)
	if cluster == nil {
		return
	}
	a, namespace, sure := c.Spec.CertManager(cluster)
	if configured := c.of.Spec.RootCA.Namespace; a != nil && sure && configured != namespace && c.Whole(a, c.of) {
		c.Fail(c.of, strict.At("spec", "rootCA", "namespace"), "remove it, or write "+strict.Shorten(namespace),
			"the ClusterIssuer kommander-ca would never become ready: cert-manager of %s reads its Secret in namespace %s, not in %s", c.Called(a), strict.Quote(namespace), strict.Quote(configured))
	}
}

// definitions checks the definitions and collects the applications' versions.
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
			c.Fail(c.of, p.Child("name"), "remove it: Fleetwright generates the definition of this application from spec.flux of the Fleet", "%s cannot be defined here", strict.Quote(d.Name))
		case oci && d.Chart.Name != "":
			c.Fail(c.of, p.Child("chart").Child("name"), "remove it, and append the chart's name to the URL", "the name of a chart at an oci:// URL is the end of the URL")
		case !oci && (d.Chart.SecretRef != nil || d.Chart.Verify != nil):
			c.Fail(c.of, p.Child("chart"), "remove secretRef and verify, or use an oci:// chart", "all definitions share the Helm repository, so a single definition cannot set secretRef or verify")
		}
		c.gitea(p, d)
		if d.Version != "" && c.Whole(c.of) && len(validation.IsDNS1123Subdomain(d.Version)) > 0 {
			c.Fail(c.of, p.Child("version"), "set a version for the application, with lower-case letters, digits, - and .", "%s cannot be part of a name", strict.Quote(d.Version))
		}
	}
	for i, d := range defs {
		c.Names(p.Item(i).Child("catalog").Child("dependencies"), check.Declared{What: "definition", List: "spec.definitions", Names: slices.Sorted(maps.Keys(c.versions))}, d.Catalog.Dependencies)
	}
}

// existing checks the definitions that the repository already has and collects their versions.
func (c *checker) existing() {
	p, m := strict.At("spec", "existingDefinitions"), c.of.Spec.ChartMuseum
	list := c.of.Spec.ExistingDefinitions
	c.Unique(p, "existing definition", check.Gather(list, func(e v1alpha1.KommanderExisting) string { return e.Name + " " + e.Version }))
	for i, e := range list {
		p := p.Item(i)
		c.versions[e.Name] = append(c.versions[e.Name], e.Version)
		switch {
		case e.Name == v1alpha1.KommanderFluxApp:
			c.Fail(c.of, p.Child("name"), "remove it: Fleetwright generates the definition of this application from spec.flux of the Fleet", "%s cannot be defined here", strict.Quote(e.Name))
		case c.of.Spec.Definition(e.Name, e.Version) != nil && c.Whole(c.of):
			c.Fail(c.of, p, "remove it here or in spec.definitions", "version %s of %s is in spec.definitions, too", strict.Quote(e.Version), strict.Quote(e.Name))
		case m != nil && m.Bootstrap && e.Name == v1alpha1.KommanderChartMuseumApp && e.Version == m.Version:
			c.Fail(c.of, p, "define it in spec.definitions, or remove bootstrap from spec.chartMuseum", "the bootstrap installs %s, and reads chart and values from a definition that Fleetwright writes", strict.Quote(e.Name))
		}
	}
}

// gitea checks that Gitea reads its administrator from the Secret that the specification declares.
func (c *checker) gitea(p *strict.Path, d v1alpha1.KommanderDefinition) {
	if g := c.of.Spec.Gitea; g == nil || d.Name != v1alpha1.KommanderGiteaApp || d.Version != g.Version {
		return
	}
	values, _ := d.Values["gitea"].(map[string]any)
	admin, _ := values["admin"].(map[string]any)
	name, named := admin["existingSecret"]
	if named && name != v1alpha1.KommanderGiteaSecret && name != "${adminCredentialsSecret}" {
		c.Fail(c.of, p.Child("values").Child("gitea").Child("admin").Child("existingSecret"), "remove it, or write ${adminCredentialsSecret}",
			"Gitea does not read its administrator from the Secret %s, which the specification declares", strict.Quote(v1alpha1.KommanderGiteaSecret))
	}
}

// core checks that the applications that the installation needs are defined.
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
	case version == "" || c.Incomplete || c.Torn("spec.definitions", "spec.existingDefinitions"):
	case versions == nil:
		add := "add it to spec.definitions, as in - {name: " + strict.Shorten(application) + ", chart: {url: …, version: " + strict.Shorten(version) + "}}"
		c.Fail(c.of, p, c.Report.Suggest(application, "definition", add, slices.Collect(maps.Keys(c.versions))), "spec.definitions has no %s", strict.Quote(application))
	case !slices.Contains(versions, version):
		c.Fail(c.of, p, strict.Choices("version", "add it to spec.definitions", versions), "spec.definitions has no version %s of %s", strict.Quote(version), strict.Quote(application))
	}
}

// deployed reports whether the installation creates an AppDeployment that the specification does not list:
// Flux's in each workspace, the others in the management cluster.
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
			c.Fail(c.of, p.Child("name"), "remove it: its version is that of the installation", "the installation already deploys %s", strict.Quote(a.Name))
		}
		if a.Kind == "ClusterApp" && a.Application != v1alpha1.KommanderFluxApp {
			c.version(p.Child("version"), a.Application, a.Version)
		}
		if clusters != nil {
			c.Names(p.Child("clusters"), places(clusters), a.Clusters)
		}
		c.overrides(p.Child("overrides"), a, clusters)
		if place.namespace == v1alpha1.KommanderNamespace {
			c.handover(p, a)
		}
	}
}

// handover checks that an AppDeployment takes over the version that the installation applies.
func (c *checker) handover(p *strict.Path, a v1alpha1.KommanderApplication) {
	s := &c.of.Spec
	for _, of := range []struct{ field, application, version string }{
		{"gatekeeper", v1alpha1.KommanderGatekeeperApp, s.Gatekeeper.Version},
		{"gitea", v1alpha1.KommanderGiteaApp, giteaVersion(s)},
	} {
		if of.version == "" || !a.Adopts(of.application) || !c.Whole(c.of) {
			continue
		}
		differs := func(p *strict.Path, version string) {
			if version != "" && version != of.version {
				c.Fail(c.of, p, "write the same version in spec."+of.field+".version and here",
					"AppDeployment %s takes over the application that the installation applies in version %s, but has version %s", strict.Quote(a.Name), strict.Quote(of.version), strict.Quote(version))
			}
		}
		differs(p.Child("version"), a.Version)
		for i, o := range a.Overrides {
			differs(p.Child("overrides").Item(i).Child("version"), o.Version)
		}
	}
}

func giteaVersion(s *v1alpha1.KommanderSpec) string {
	if s.Gitea == nil {
		return ""
	}
	return s.Gitea.Version
}

// places returns the clusters that an application may be on: the management cluster, or
// the clusters of its workspace or project.
func places(clusters []string) check.Declared {
	if slices.Equal(clusters, []string{v1alpha1.KommanderHost}) {
		return check.Declared{What: "cluster", Names: clusters}
	}
	return check.Declared{What: "cluster", List: "spec.workspaces", Otherwise: "add it to the clusters of the workspace or project", Names: clusters}
}

// overrides checks that each override changes something on clusters that have the application.
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
					c.Fail(c.of, p.Child("clusters").Item(j), on.Hint(c.Report, name), "%s is not on cluster %s, for which the override is", strict.Quote(a.Name), strict.Quote(name))
				}
			}
		}
		if o.Version == "" && o.Values == nil && c.Whole(c.of) {
			c.Fail(c.of, p, "add a version or values, or remove it", "override %s has neither a version nor values", strict.Quote(o.Name))
		}
		if a.Kind == "ClusterApp" {
			c.version(p.Child("version"), a.Application, o.Version)
		}
	}
}
