package kommander

import (
	"maps"
	"path"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

const (
	// rootCA is the ClusterIssuer of the management cluster's certificate authority,
	// its Certificate and Secret.
	rootCA     = "kommander-ca"
	selfSigned = "selfsigned-issuer"
	acmeIssuer = "kommander-acme-issuer"
	// ingressTLS and giteaTLS are certificates and their Secrets.
	ingressTLS = "kommander-ingress-tls"
	giteaTLS   = "git-tls"
)

// installation is what stands before Flux's configuration.
func (g *generator) installation() {
	var namespaces []any
	made := addon.Namespaces(g.spec, g.on)
	for _, name := range []string{namespace, fluxNamespace} {
		if !made[name] {
			namespaces = append(namespaces, addon.Namespace(name, ""))
		}
	}
	g.Add(step.Step{Name: v1alpha1.KommanderStepBase, Unit: layout.Unit{Wait: true}, Files: map[string][]any{"namespaces.yaml": namespaces}})
	g.rootCA()
	g.chartMuseum()
	g.helm()
	g.ingress()
	g.gitea()
}

// rootCA is the certificate authority of the management cluster. Its Secret stands
// where cert-manager looks for what a ClusterIssuer needs.
func (g *generator) rootCA() {
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepRootCA, After: []string{v1alpha1.KommanderStepBase}, Unit: layout.Unit{Wait: true},
		Files: map[string][]any{"root-ca.yaml": {
			newObject(certManager, "ClusterIssuer", metadata{Name: selfSigned}, spec{"selfSigned": spec{}}),
			newObject(certManager, "Certificate", kept(metadata{Name: rootCA, Namespace: g.k.RootCA.Namespace}), spec{
				"isCA": true, "commonName": rootCA, "secretName": rootCA,
				"privateKey": spec{"algorithm": "ECDSA", "size": 256},
				"issuerRef":  issuer(selfSigned),
			}),
			newObject(certManager, "ClusterIssuer", metadata{Name: rootCA}, spec{"ca": spec{"secretName": rootCA}}),
		}},
	})
}

func issuer(n string) spec {
	return spec{"name": n, "kind": "ClusterIssuer", "group": "cert-manager.io"}
}

// takenOver are annotations of objects that a step makes once: Kommander's own
// Kustomization of the application applies them from then on.
func takenOver() map[string]string {
	return map[string]string{"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent", emit.AnnotationPrune: emit.Disabled}
}

// chartMuseum is installed by the bootstrap, or by this step, and belongs to its
// AppDeployment later.
func (g *generator) chartMuseum() {
	if g.k.ChartMuseum == nil {
		return
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepChartMuseum, After: []string{v1alpha1.KommanderStepRootCA}, Unit: layout.Unit{Wait: true},
		Lists: g.profile.applied(v1alpha1.KommanderChartMuseumApp, g.k.ChartMuseum.Version), Annotations: takenOver(),
		PostBuild: g.postBuild(g.k.Definition(v1alpha1.KommanderChartMuseumApp, g.k.ChartMuseum.Version)),
	})
}

// host is the management cluster's folder among the clusters.
const host = "clusters/kommander_host-cluster"

// helm is the step of the Helm repositories, which are one mirror in an air-gapped
// cluster.
func (g *generator) helm() {
	repositories := g.helmRepositories()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(repositories)) {
		g.out.Objects(path.Join("common/helm-repositories", name+".yaml"), "", repositories[name])
		names = append(names, name+".yaml")
	}
	if len(names) == 0 {
		return
	}
	g.out.Kustomization("common/helm-repositories", emit.Kustomization{Resources: names})
	g.out.Kustomization("common/base", emit.Kustomization{Resources: []string{"../helm-repositories"}})
	g.airgapped()
	common := "../../../common/base"
	if g.k.AirGapped != nil {
		common = "../../../common/airgapped"
	}
	g.out.Kustomization(path.Join(host, "common"), emit.Kustomization{Resources: []string{common}})
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepHelmRepositories, After: []string{v1alpha1.KommanderStepBase, v1alpha1.KommanderStepRootCA, v1alpha1.KommanderStepChartMuseum},
		Unit:  layout.Unit{Wait: true},
		Lists: []string{path.Join(host, "common")}, PostBuild: g.postBuild(nil),
	})
}

// airgapped writes the variant of the Helm repositories whose server has a
// certificate of the cluster's own.
func (g *generator) airgapped() {
	field := "secretRef"
	if g.profile.certSecretRef {
		field = "certSecretRef"
	}
	target := &kustypes.Selector{}
	target.Kind = "HelmRepository"
	g.out.Objects("common/airgapped/patch-add-secret-ref.yaml", "", newObject(
		"source.toolkit.fluxcd.io/v1", "HelmRepository", metadata{Name: "not-used-in-a-patch"}, spec{field: name(v1alpha1.KommanderCASecret)},
	))
	g.out.Kustomization("common/airgapped", emit.Kustomization{
		Resources: []string{"../helm-repositories"},
		Patches:   []kustypes.Patch{{Path: "patch-add-secret-ref.yaml", Target: target}},
	})
}

// ingress is the certificate of the management cluster's domain. One of a public
// authority is given only when the ingress serves, so nothing waits for it.
func (g *generator) ingress() {
	if g.k.Ingress == nil {
		return
	}
	from := rootCA
	files := map[string][]any{}
	unit := layout.Unit{Wait: true}
	if acme := g.k.Ingress.ACME; acme != nil {
		from = acmeIssuer
		files["clusterissuer.yaml"] = []any{newObject(certManager, "ClusterIssuer", metadata{Name: acmeIssuer}, spec{"acme": spec{
			"email": acme.Email, "server": acme.Server, "privateKeySecretRef": name(acmeIssuer + "-account"),
			"solvers": []any{spec{"http01": spec{"ingress": spec{"ingressClassName": "kommander-traefik"}}}},
		}})}
		unit = layout.Unit{HealthChecks: []meta.NamespacedObjectKindReference{{APIVersion: certManager, Kind: "ClusterIssuer", Name: acmeIssuer}}}
	}
	files["certificate.yaml"] = []any{newObject(certManager, "Certificate", metadata{Name: ingressTLS, Namespace: namespace}, spec{
		"secretName": ingressTLS, "dnsNames": []string{g.k.Ingress.Hostname}, "issuerRef": issuer(from),
	})}
	g.Add(step.Step{Name: v1alpha1.KommanderStepIngress, After: []string{v1alpha1.KommanderStepHelmRepositories, v1alpha1.KommanderStepRootCA}, Unit: unit, Files: files})
}

// gitea is Git in the cluster, with a certificate of the cluster's authority and an
// administrator whose Secret is encrypted.
func (g *generator) gitea() {
	if g.k.Gitea == nil {
		return
	}
	hosts := []string{"gitea-http." + namespace + ".svc", "gitea-http." + namespace + ".svc.cluster.local"}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepGitea, Unit: layout.Unit{Wait: true},
		After: []string{v1alpha1.KommanderStepRootCA, v1alpha1.KommanderStepHelmRepositories, v1alpha1.KommanderStepIngress},
		Files: map[string][]any{"certificate.yaml": {newObject(certManager, "Certificate", metadata{Name: giteaTLS, Namespace: namespace}, spec{
			"secretName": giteaTLS, "dnsNames": hosts, "issuerRef": issuer(rootCA),
			"privateKey": spec{"algorithm": "ECDSA", "size": 256},
		})}},
		Comments:  map[string]string{"certificate.yaml": "Gitea needs the Secret " + namespace + "/" + v1alpha1.KommanderGiteaSecret + " too, with username and password,\nencrypted in Git or made otherwise."},
		Lists:     g.profile.applied(v1alpha1.KommanderGiteaApp, g.k.Gitea.Version),
		PostBuild: g.postBuild(g.k.Definition(v1alpha1.KommanderGiteaApp, g.k.Gitea.Version)),
	})
}
