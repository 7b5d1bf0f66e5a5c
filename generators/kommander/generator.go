package kommander

import (
	"maps"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
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

// generator generates the files of one Kommander.
type generator struct {
	out  *emit.Files
	spec *v1alpha1.Spec
	k    *v1alpha1.KommanderSpec
	// on is the management cluster.
	on      *v1alpha1.Cluster
	profile profile
	secrets []secret.Placed
	copied  map[string][]byte
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

// chartMuseumVersion returns the version of ChartMuseum on the management cluster; "" without ChartMuseum.
func chartMuseumVersion(k *v1alpha1.KommanderSpec) string {
	if k.ChartMuseum == nil {
		return ""
	}
	return k.ChartMuseum.Version
}

// bootstrapped reports whether the bootstrap installs a definition. Then its files contain no variables,
// because the bootstrap reads them as they are.
func (g *generator) bootstrapped(name, version string) bool {
	return name == v1alpha1.KommanderChartMuseumApp && g.k.ChartMuseum != nil && g.k.ChartMuseum.Bootstrap && version == g.k.ChartMuseum.Version
}

// variables returns the ConfigMap kommander-vars in a namespace, with the variables that definitions use as
// ${NAME}.
func (g *generator) variables(namespace string) any {
	return watched(configMap(metadata{Name: varsMap, Namespace: namespace}, g.values()))
}

// values returns the values of Kommander's variables.
func (g *generator) values() map[string]string {
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
	return values
}

// varsMap is the name of the ConfigMap with Kommander's variables.
const varsMap = "kommander-vars"

// postBuild returns the substitution of a step with Kommander's variables. For the definition of an application
// ("" for none) it adds the variables that Kommander's own Kustomizations set.
func (g *generator) postBuild(application, version string) *kustomizev1.PostBuild {
	p := &kustomizev1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{{Kind: "ConfigMap", Name: varsMap}}}
	if application == "" {
		return p
	}
	p.Substitute = map[string]string{"releaseNamespace": namespace}
	if g.profile.named {
		p.Substitute["releaseName"], p.Substitute["appVersion"] = application, version
	}
	for _, name := range g.unset(application, version, p.Substitute, g.values()) {
		p.Substitute[name] = ""
	}
	return p
}
