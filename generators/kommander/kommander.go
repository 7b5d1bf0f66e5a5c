// Package kommander generates the management repository of Kommander (D2iQ DKP,
// Nutanix NKP): what its installer builds, as steps whose order Flux keeps, the
// definitions of applications, and workspaces, projects and applications after it.
//
// Layout, names and variables were read off the tags v2.4.0 to v2.17.0 of
// https://github.com/mesosphere/kommander-applications; the kinds off the published
// reference and documentation of DKP 2.1 to 2.8.
package kommander

import (
	"maps"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

const (
	product       = v1alpha1.ProductKommander
	namespace     = v1alpha1.KommanderNamespace
	fluxNamespace = v1alpha1.KommanderFluxNamespace
)

// Generate writes the management repository of the specification's Kommander, if it
// has one. secrets are the declared ones whose files there are.
func Generate(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed) {
	g := newGenerator(out, spec, lay, secrets)
	if g == nil {
		return
	}
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

type generator struct {
	out  *emit.Files
	spec *v1alpha1.Spec
	k    *v1alpha1.KommanderSpec
	// on is the management cluster.
	on      *v1alpha1.Cluster
	profile profile
	secrets []secret.Placed
	*step.Steps
}

func newGenerator(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed) *generator {
	of := v1alpha1.ProductOf[*v1alpha1.Kommander](spec)
	if of == nil {
		return nil
	}
	k := &of.Spec
	c := spec.Cluster(k.Cluster)
	return &generator{out: out, spec: spec, k: k, on: c, profile: profileOf(k), secrets: secrets, Steps: step.New(out, spec, lay, c, product, k.Timeout, secrets)}
}

// Products is ChartMuseum's release for the bootstrap of a cluster.
func Products(spec *v1alpha1.Spec, lay layout.Layout, c *v1alpha1.Cluster) []*addon.Placed {
	g := newGenerator(nil, spec, lay, nil)
	if g == nil || g.on != c || !g.bootstrapped(v1alpha1.KommanderChartMuseumApp, chartMuseumVersion(g.k)) {
		return nil
	}
	d := g.k.Definition(v1alpha1.KommanderChartMuseumApp, g.k.ChartMuseum.Version)
	return []*addon.Placed{{Addon: g.bootstrapAddon(d), Release: g.profile.releaseDir(d), File: d.Name + ".yaml"}}
}

// chartMuseumVersion is the version in the management cluster; "" without one.
func chartMuseumVersion(k *v1alpha1.KommanderSpec) string {
	if k.ChartMuseum == nil {
		return ""
	}
	return k.ChartMuseum.Version
}

// bootstrapped says whether the bootstrap installs a definition, so that it must
// stand as it is in its file.
func (g *generator) bootstrapped(name, version string) bool {
	return name == v1alpha1.KommanderChartMuseumApp && g.k.ChartMuseum != nil && g.k.ChartMuseum.Bootstrap && version == g.k.ChartMuseum.Version
}

// variables is the ConfigMap kommander-vars in a namespace: what definitions refer to
// as ${NAME}.
func (g *generator) variables(namespace string) any {
	values := map[string]string{
		"airgappedEnabled":                  "false",
		"ageEncryptionSecretKey":            "age.agekey",
		"ageEncryptionSecretName":           v1alpha1.KommanderAgeSecret,
		"caSecretName":                      rootCA,
		"caSecretNamespace":                 g.k.RootCA.Namespace,
		"certificateIssuerKind":             "ClusterIssuer",
		"certificatesCAIssuerName":          rootCA,
		"certificatesIssuerKind":            "ClusterIssuer",
		"certificatesIssuerName":            rootCA,
		"kommanderChartVersion":             "v" + g.k.Version,
		"kommanderFluxNamespace":            fluxNamespace,
		"kommanderGitCredentialsSecretName": v1alpha1.KommanderGitSecret,
	}
	if g.k.Gitea != nil {
		values["adminCredentialsSecret"] = v1alpha1.KommanderGiteaSecret
		values["tlsCertificateSecret"] = giteaTLS
	}
	if a := g.k.AirGapped; a != nil {
		values["airgappedEnabled"] = "true"
		values["helmMirrorURL"] = a.HelmMirrorURL
	}
	maps.Copy(values, g.k.Variables)
	return watched(configMap(metadata{Name: varsMap, Namespace: namespace}, values))
}

// varsMap is the ConfigMap of Kommander's variables.
const varsMap = "kommander-vars"

// postBuild gives a step Kommander's variables, and for the definition of an
// application (nil for none) what Kommander's own Kustomizations give it.
func (g *generator) postBuild(d *v1alpha1.KommanderDefinition) *kustomizev1.PostBuild {
	p := &kustomizev1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{{Kind: "ConfigMap", Name: varsMap}}}
	if d == nil {
		return p
	}
	p.Substitute = map[string]string{"releaseNamespace": namespace}
	if g.profile.named {
		p.Substitute["releaseName"], p.Substitute["appVersion"] = d.Name, d.Version
	}
	return p
}
