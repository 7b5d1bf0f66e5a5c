package kommander

import (
	"maps"
	"path"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/layout"
)

const (
	// rootCA is the name of the management cluster's certificate authority: its ClusterIssuer, Certificate and
	// Secret.
	rootCA     = "kommander-ca"
	selfSigned = "selfsigned-issuer"
	acmeIssuer = "kommander-acme-issuer"
	// ingressTLS and giteaTLS are the names of certificates and their Secrets.
	ingressTLS = v1alpha1.KommanderIngressSecret
	giteaTLS   = "git-tls"
)

// installation writes the steps that come before Flux's configuration.
func (g *generator) installation() {
	var namespaces []any
	created := addon.Namespaces(g.spec, g.on)
	for _, name := range []string{namespace, fluxNamespace} {
		if !created[name] {
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

// rootCA writes the certificate authority of the management cluster. Its Secret is in the namespace in which
// cert-manager looks for the Secrets of ClusterIssuers.
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

// takenOver returns the annotations of objects that a step creates only once. Kommander's own Kustomization of
// the application applies them from then on.
func takenOver() map[string]string {
	return map[string]string{"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent", emit.AnnotationPrune: emit.Disabled}
}

// handover returns the annotations of takenOver for the objects that the installation applies for an application, if an
// AppDeployment takes the application over.
func (g *generator) handover(application string) map[string]string {
	if g.k.Deploys(application) {
		return takenOver()
	}
	return nil
}

// chartMuseum writes the step of ChartMuseum. The bootstrap or this step installs it, and later its
// AppDeployment takes it over.
func (g *generator) chartMuseum() {
	if g.k.ChartMuseum == nil {
		return
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepChartMuseum, After: []string{v1alpha1.KommanderStepRootCA}, Unit: layout.Unit{Wait: true},
		Lists: g.applied(v1alpha1.KommanderChartMuseumApp, g.k.ChartMuseum.Version), Annotations: takenOver(),
		PostBuild: g.postBuild(v1alpha1.KommanderChartMuseumApp, g.k.ChartMuseum.Version),
	})
}

// host is the management cluster's folder among the clusters.
const host = "clusters/kommander_host-cluster"

// helm writes the step of the Helm repositories and of the other content of a copied common/. In an air-gapped
// cluster all Helm repositories are one mirror.
func (g *generator) helm() {
	s := step.Step{
		Name: v1alpha1.KommanderStepHelmRepositories, After: []string{v1alpha1.KommanderStepBase, v1alpha1.KommanderStepRootCA, v1alpha1.KommanderStepChartMuseum},
		Unit:  layout.Unit{Wait: true},
		Lists: []string{path.Join(host, "common")}, PostBuild: g.postBuild("", ""),
	}
	common := []string{commonBase}
	if g.k.AirGapped != nil {
		common[0] = commonAirgapped
	}
	repositories := g.helmRepositories()
	switch {
	case g.k.ExistingCommon:
		if g.k.AirGapped != nil && g.has(path.Join(commonPriorities, kustomizationFile)) {
			common = append(common, commonPriorities)
		}
		s.Files = map[string][]any{"helmrepositories.yaml": g.besideCommon(repositories)}
	case len(repositories) == 0:
		return
	default:
		g.common(repositories)
	}
	var names []string
	for _, dir := range common {
		names = append(names, "../../../"+dir)
	}
	g.out.Kustomization(path.Join(host, "common"), emit.Kustomization{Resources: names})
	g.Add(s)
}

// common writes the folder that all definitions share.
func (g *generator) common(repositories map[string]*sourcev1.HelmRepository) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(repositories)) {
		g.out.Objects(path.Join("common/helm-repositories", name+".yaml"), "", repositories[name])
		names = append(names, name+".yaml")
	}
	g.out.Kustomization("common/helm-repositories", emit.Kustomization{Resources: names})
	g.out.Kustomization(commonBase, emit.Kustomization{Resources: []string{"../helm-repositories"}})
	g.airgapped()
}

// besideCommon returns the Helm repositories of the specification if common/ is a copy. They have the
// certificate Secret that the copied variant for air-gapped clusters uses.
func (g *generator) besideCommon(repositories map[string]*sourcev1.HelmRepository) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(repositories)) {
		r := repositories[name]
		if ref := (&meta.LocalObjectReference{Name: v1alpha1.KommanderCASecret}); g.k.AirGapped != nil && g.profile.certSecretRef {
			r.Spec.CertSecretRef = ref
		} else if g.k.AirGapped != nil {
			r.Spec.SecretRef = ref
		}
		out = append(out, r)
	}
	return out
}

// airgapped writes the variant of the Helm repositories for a server whose certificate comes from the cluster's
// own authority.
func (g *generator) airgapped() {
	field := "secretRef"
	if g.profile.certSecretRef {
		field = "certSecretRef"
	}
	target := &kustypes.Selector{}
	target.Kind = "HelmRepository"
	g.out.Objects(commonAirgapped+"/patch-add-secret-ref.yaml", "", newObject(
		"source.toolkit.fluxcd.io/v1", "HelmRepository", metadata{Name: "not-used-in-a-patch"}, spec{field: name(v1alpha1.KommanderCASecret)},
	))
	g.out.Kustomization(commonAirgapped, emit.Kustomization{
		Resources: []string{"../helm-repositories"},
		Patches:   []kustypes.Patch{{Path: "patch-add-secret-ref.yaml", Target: target}},
	})
}

// ingress adds the step with the certificate for the management cluster's domain, from the cluster's own CA or from an ACME
// issuer. An ACME issuer issues the certificate only after the ingress serves requests, so that the step does not wait for it. If
// the user provides the certificate, the step contains only its Secret.
func (g *generator) ingress() {
	if g.k.Ingress == nil {
		return
	}
	after := []string{v1alpha1.KommanderStepHelmRepositories, v1alpha1.KommanderStepRootCA}
	if g.k.Ingress.Certificate != nil {
		g.Add(step.Step{Name: v1alpha1.KommanderStepIngress, After: after, Unit: layout.Unit{Wait: true}})
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
	g.Add(step.Step{Name: v1alpha1.KommanderStepIngress, After: after, Unit: unit, Files: files})
}
