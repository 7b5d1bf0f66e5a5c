package flux

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestInstancePatches: what a target selects is what kustomize 5.8 selects in the folder that the
// Flux Operator v0.58 makes of Flux v2.9.4 for such an instance.
func TestInstancePatches(t *testing.T) {
	t.Parallel()
	const of = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n"
	const chart = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-instance, namespace: flux-system}\nspec:\n  interval: 1h\n" +
		"  chartRef: {kind: OCIRepository, name: flux-instance}\n"
	const sync = "  sync: {kind: GitRepository, url: https://example.com/fleet.git, ref: refs/heads/main, path: clusters/prod}\n"
	plain := of + "  distribution: {version: 2.x, registry: ghcr.io/fluxcd}\n" + sync
	instance := func(target string) string {
		return "  kustomize: {patches: [{target: " + target + ", patch: '[]'}]}\n"
	}
	values := func(more, target string) string {
		return chart + more + "  values:\n    instance:\n      kustomize: {patches: [{target: " + target + ", patch: '[]'}]}\n"
	}
	const noNamespace = "remove the namespace: the Flux Operator sets it after the patches"
	for _, c := range []struct {
		files, hint string
		idle        bool
	}{
		{files: plain + instance("{kind: Deployment}")},
		{files: plain + instance("{kind: Deployment, name: (helm|kustomize)-controller}")},
		{files: plain + instance("{kind: Deployment, name: helm-controler}"), idle: true, hint: `did you mean "helm-controller"?`},
		{files: plain + instance("{kind: Deployment, namespace: flux-system}"), idle: true, hint: noNamespace},
		{files: plain + instance("{kind: Deployment, namespace: default}")},
		{files: plain + "  sharding: {shards: [a]}\n" + instance("{kind: Deployment, namespace: flux-system}")},
		{files: plain + "  sharding: {shards: [a]}\n" + instance("{kind: Deployment, name: source-controller-a}")},
		{files: plain + instance("{kind: Deployment, name: source-controller-a}"), idle: true, hint: `did you mean "source-controller"?`},
		{files: plain + instance("{kind: Deployment, name: image-reflector-controller}"), idle: true, hint: `add "image-reflector-controller" to the components, or remove the patch`},
		{files: plain + "  components: [source-controller, image-reflector-controller]\n" + instance("{kind: Deployment, name: image-reflector-controller}")},
		{files: plain + "  components: [source-controller]\n" + instance("{kind: Service, name: webhook-receiver}"), idle: true, hint: `add "notification-controller" to the components, or remove the patch`},
		{files: plain + "  components: [source-controller, later-controller]\n" + instance("{kind: Deployment, name: later-controller}")},
		{files: plain + instance("{kind: Deployments}"), idle: true, hint: `did you mean kind "Deployment"?`},
		{files: plain + instance("{kind: PersistentVolumeClaim}")},
		{files: plain + instance("{kind: PersistentVolumeClaim, name: source-controller}"), idle: true, hint: "an object with this name has kind Deployment"},
		{files: plain + "  storage: {class: standard, size: 1Gi}\n" + instance("{kind: PersistentVolumeClaim, name: source-controller}")},
		{files: plain + instance("{group: extensions, kind: Deployment, name: helm-controller}"), idle: true, hint: "its API version is apps/v1"},
		{files: plain + instance("{kind: ClusterRole, name: crd-controller}")},
		{files: plain + instance("{kind: ClusterRole, name: crd-controller-flux-system}")},
		{files: plain + instance("{kind: ClusterRole, namespace: flux-system}"), idle: true, hint: noNamespace},
		{files: plain + instance("{kind: ResourceQuota, namespace: flux-system}")},
		{files: plain + instance("{kind: Namespace, name: flux-system}")},
		{files: plain + instance("{kind: Namespace, name: flux}"), idle: true},
		{files: plain + instance("{kind: Kustomization, name: flux-system, namespace: flux-system}")},
		{files: plain + instance("{kind: Kustomization, namespace: default}"), idle: true, hint: noNamespace},
		{files: plain + instance("{kind: GitRepository, name: fleet}"), idle: true},
		{files: plain + instance("{kind: OCIRepository}")},
		{files: plain + instance("{kind: CustomResourceDefinition, name: helmreleases.helm.toolkit.fluxcd.io}")},
		{files: plain + instance("{kind: CustomResourceDefinition, name: later.helm.toolkit.fluxcd.io}")},
		{files: plain + instance("{kind: CustomResourceDefinition, name: imagepolicies.image.toolkit.fluxcd.io}"), idle: true, hint: `add "image-reflector-controller" to the components, or remove the patch`},
		{files: plain + instance(`{kind: Deployment, labelSelector: "a=b"}`)},
		{files: of + "  distribution: {version: 2.x, registry: ghcr.io/fluxcd, artifact: oci://example.com/our-manifests:latest}\n" + sync + instance("{kind: Deployment, name: ours}")},
		{files: values("", "{kind: Deployment, name: helm-controler}"), idle: true, hint: `did you mean "helm-controller"?`},
		{files: values("", "{kind: Deployment, name: source-watcher}"), idle: true, hint: `add "source-watcher" to the components, or remove the patch`},
		{files: values("  valuesFrom: [{kind: Secret, name: more}]\n", "{kind: Deployment, name: source-watcher}")},
		{files: values("  valuesFrom: [{kind: Secret, name: more}]\n", "{kind: Kustomization, name: fleet}")},
		{files: values("  valuesFrom: [{kind: Secret, name: more}]\n", "{kind: PersistentVolumeClaim, name: source-controller}")},
		{files: values("", "{kind: Deployment, name: '${CONTROLLER}'}")},
	} {
		found := ruletest.Find(t, PatchTargetMissing, fluxSync+"-- clusters/prod/flux.yaml --\n"+c.files)
		switch {
		case len(found) == 0 && !c.idle:
		case len(found) != 1 || !c.idle || found[0].Hint != c.hint || found[0].File != "clusters/prod/flux.yaml":
			t.Errorf("%s\nidle=%t with hint %q, got %+v", c.files, c.idle, c.hint, found)
		}
	}
}
