package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// certificates is the kind of the objects that the step of Gitea keeps.
var certificates = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}

// TestHandover applies what examples/kommander renders for Gatekeeper and Gitea with the real Flux, and plays the part of
// Kommander, whose own Kustomization takes the application over for an AppDeployment: from then on the installation's step
// does not change it, even if the step no longer contains it, and still applies everything else.
func TestHandover(t *testing.T) {
	if os.Getenv(alone) == "" {
		t.Parallel()
		t.Logf("proved on a real API server:\n%s", strings.Join(inProcess(t), "\n"))
		return
	}
	s := &site{fleet: harness.NewFleet(t, "kommander"), cluster: "management"}
	s.fleet.Edit("    - name: kubefed\n      version: 0.10.0\n    - name: kommander\n",
		"    - {name: gatekeeper, version: 3.10.0}\n    - {name: gitea, version: 6.0.1}\n    - name: kubefed\n      version: 0.10.0\n    - name: kommander\n")
	s.fleet.Commit("Start the management cluster", "--flux-manifests", os.Getenv("FLUX_MANIFESTS"))
	s.fleet.Pull()
	steps := s.startKommander(t)
	for _, application := range []struct{ name, version string }{{"gitea", "6.0.1"}, {"gatekeeper", "3.10.0"}} {
		step := "kommander-" + application.name
		s.flux.Says("flux-system", step, true, "")
		if owner := s.owner(t, application.name); owner != step {
			t.Fatalf("%q owns HelmRelease kommander/%s after the installation", owner, application.name)
		}
		s.takesOver(t, steps[step], application.name, application.version)
		s.flux.Says("kommander", application.name, true, "")
		s.isTakenOver(t, application.name)
		s.flux.Reconcile(harness.Kustomizations, "flux-system", step)
		s.isTakenOver(t, application.name)
	}
	s.keepsTheRest(t)
	for _, name := range []string{"gitea", "gatekeeper"} {
		s.dropped(t, name)
		s.isTakenOver(t, name)
	}
	if _, err := s.flux.Any.Resource(certificates).Namespace("kommander").Get(t.Context(), "git-tls", metav1.GetOptions{}); err == nil {
		t.Error("the step prunes nothing: Certificate kommander/git-tls is still there")
	}
	if !t.Failed() {
		fmt.Printf("\n%sGitea and Gatekeeper stay as Kommander's Kustomization applies them, when their step is applied again and when it holds them no more\n", proof)
	}
}

// startKommander starts a cluster with Flux, and the steps that install Gitea and Gatekeeper, which it returns by name, without
// their dependencies.
func (s *site) startKommander(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	cluster := harness.StartCluster(t, slices.Concat(harness.FluxKinds(t), harness.CertManagerKinds(), harness.Components(t))...)
	s.flux = harness.StartFluxUnlocked(t, cluster, s.fleet.Internet)
	cluster.DeclareAbsent(s.fleet.Internet)
	s.secret(t, "flux-system", "sops-age", map[string][]byte{"age.agekey": []byte(s.fleet.Key("clusters/management"))})
	s.gitSecret(t, "flux-system", "flux-system", s.fleet.PlatformURL())
	s.certificatesReady(t)
	namespace := object("v1", "Namespace", "", "kommander", nil)
	source := object("source.toolkit.fluxcd.io/v1", "GitRepository", "flux-system", "flux-system", map[string]any{
		"interval": "1m", "url": s.fleet.PlatformURL(), "ref": map[string]any{"branch": "main"}, "secretRef": map[string]any{"name": "flux-system"},
	})
	cluster.Apply(namespace, source)
	steps := map[string]*unstructured.Unstructured{}
	for _, o := range s.rendered(t) {
		switch {
		case o.GetKind() == "ConfigMap" && o.GetName() == "kommander-vars":
			cluster.Apply(o)
		case o.GetKind() == "Kustomization" && (o.GetName() == "kommander-gitea" || o.GetName() == "kommander-gatekeeper"):
			unstructured.RemoveNestedField(o.Object, "spec", "dependsOn")
			steps[o.GetName()] = o
		}
	}
	if len(steps) != 2 {
		t.Fatalf("the steps are %v", steps)
	}
	for _, step := range steps {
		cluster.Apply(step)
	}
	return steps
}

// object returns an object with a spec.
func object(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}}
	if namespace != "" {
		o.SetNamespace(namespace)
	}
	if spec != nil {
		o.Object["spec"] = spec
	}
	return o
}

// certificatesReady does the part of cert-manager.
func (s *site) certificatesReady(t *testing.T) {
	t.Helper()
	ready := []byte(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	watcher, err := s.flux.Any.Resource(certificates).Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	go func() {
		for event := range watcher.ResultChan() {
			if o, is := event.Object.(*unstructured.Unstructured); is && o.Object["status"] == nil {
				_, _ = s.flux.Any.Resource(certificates).Namespace(o.GetNamespace()).
					Patch(t.Context(), o.GetName(), types.MergePatchType, ready, metav1.PatchOptions{}, "status")
			}
		}
	}()
}

// takenOver is the interval of a release that Kommander applies, unlike that of the definition.
const takenOver = "42m0s"

// takesOver plays the part of Kommander, which creates a Kustomization of the same definition for an AppDeployment, with
// overrides.
func (s *site) takesOver(t *testing.T, step *unstructured.Unstructured, name, version string) {
	t.Helper()
	after, _, _ := unstructured.NestedMap(step.Object, "spec", "postBuild", "substitute")
	s.flux.Apply(object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "kommander", name, map[string]any{
		"interval": "10m", "path": "./services/" + name + "/" + version, "prune": true,
		"sourceRef": map[string]any{"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"},
		"postBuild": map[string]any{"substitute": after},
		"patches": []any{map[string]any{
			"patch":  `[{"op": "replace", "path": "/spec/interval", "value": "` + takenOver + `"}]`,
			"target": map[string]any{"kind": "HelmRelease"},
		}},
	}))
}

func (s *site) taken(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := s.flux.Any.Resource(harness.HelmReleases).Namespace("kommander").Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	return o
}

// owner returns the Kustomization that last applied a release.
func (s *site) owner(t *testing.T, name string) string {
	t.Helper()
	return s.taken(t, name).GetLabels()["kustomize.toolkit.fluxcd.io/name"]
}

// isTakenOver checks that a release is as Kommander applies it.
func (s *site) isTakenOver(t *testing.T, name string) {
	t.Helper()
	o := s.taken(t, name)
	interval, _, _ := unstructured.NestedString(o.Object, "spec", "interval")
	if owner := s.owner(t, name); owner != name || interval != takenOver || o.GetDeletionTimestamp() != nil {
		t.Errorf("HelmRelease kommander/%s is of %q with interval %s, deleted at %v", name, owner, interval, o.GetDeletionTimestamp())
	}
}

// keepsTheRest changes objects by hand that the step of Gitea did not hand over: the step reverts the changes.
func (s *site) keepsTheRest(t *testing.T) {
	t.Helper()
	resource := s.flux.Any.Resource(certificates).Namespace("kommander")
	was, err := resource.Get(t.Context(), "git-tls", metav1.GetOptions{})
	must(t, err)
	_, err = resource.Patch(t.Context(), "git-tls", types.MergePatchType, []byte(`{"spec":{"secretName":"other"}}`), metav1.PatchOptions{})
	must(t, err)
	s.flux.Reconcile(harness.Kustomizations, "flux-system", "kommander-gitea")
	now, err := resource.Get(t.Context(), "git-tls", metav1.GetOptions{})
	must(t, err)
	if fmt.Sprint(now.Object["spec"]) != fmt.Sprint(was.Object["spec"]) {
		t.Errorf("the step leaves Certificate kommander/git-tls as it was changed: %v", now.Object["spec"])
	}
}

// dropped removes everything from a step in Git, and waits until Flux has applied that.
func (s *site) dropped(t *testing.T, name string) {
	t.Helper()
	s.fleet.Put(s.fleet.PlatformURL(), "main", map[string]string{
		"kommander/" + name + "/kustomization.yaml": "resources: [left.yaml]\n",
		"kommander/" + name + "/left.yaml":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: left-of-" + name + ", namespace: kommander}\n",
	})
	s.flux.Reconcile(harness.GitRepositories, "flux-system", "flux-system")
	s.flux.Reconcile(harness.Kustomizations, "flux-system", "kommander-"+name)
	harness.Eventually(t, patience, "step "+name+" is applied without what it held", func(ctx context.Context) (bool, string) {
		_, err := s.flux.Kube.CoreV1().ConfigMaps("kommander").Get(ctx, "left-of-"+name, metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
}
