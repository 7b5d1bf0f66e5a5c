package e2e

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// k0rdentGroup is the API group of kcm.
var k0rdentGroup = schema.GroupVersion{Group: "k0rdent.mirantis.com", Version: "v1beta1"}

// byKCM are the objects that kcm 1.11.4 creates by itself and that the example waits for, in the order of the steps.
var byKCM = []struct {
	step, kind, namespace string
	names                 []string
	spec                  map[string]any
}{
	{"release", "Release", "", []string{"kcm-1-11-4"}, map[string]any{
		"version": "1.11.4", "kcm": map[string]any{"template": "kcm-1-11-4"}, "capi": map[string]any{"template": "cluster-api-1-1-15"},
	}},
	{"management", "Management", "", []string{"kcm"}, map[string]any{"release": "kcm-1-11-4"}},
	{"templates", "ClusterTemplate", "kcm-system", []string{
		"adopted-cluster-1-0-2", "aws-standalone-cp-1-0-43", "azure-standalone-cp-1-0-45", "openstack-standalone-cp-1-0-46", "vsphere-standalone-cp-1-0-42",
	}, map[string]any{"helm": map[string]any{"chartSpec": map[string]any{
		"chart": "kcm-template", "version": "1.0.0", "interval": "10m0s", "sourceRef": map[string]any{"kind": "HelmRepository", "name": "kcm-templates"},
	}}}},
}

// handedOn are the objects that kcm copies from its namespace to others for the AccessManagement, and that the example waits
// for.
var handedOn = []struct{ kind, name, namespace string }{
	{"ClusterTemplate", "openstack-standalone-cp-1-0-46", "team-blue"}, {"Credential", "openstack", "team-blue"},
	{"ClusterTemplate", "aws-standalone-cp-1-0-42", "team-red"}, {"Credential", "aws", "team-red"},
	{"ServiceTemplate", "ingress-nginx-4-13-2", "team-red"},
}

// TestK0rdentWithKCM applies the example of k0rdent to a cluster with the real Flux. The Release, the templates and the
// Management are left to kcm, whose part the test plays: each step waits for the objects that kcm creates, nothing of a
// later step is applied before, and all of it becomes ready.
func TestK0rdentWithKCM(t *testing.T) {
	if os.Getenv(alone) == "" {
		t.Parallel()
		t.Logf("proved on a real API server:\n%s", strings.Join(inProcess(t), "\n"))
		return
	}
	s := &site{fleet: harness.NewFleet(t, "k0rdent"), cluster: "management"}
	s.fleet.Edit("  values:\n    controller:\n", "  values:\n    controller:\n      createRelease: true\n      createTemplates: true\n      createManagement: true\n")
	s.fleet.Edit("      version: 1.0.24\n      disabled: true\n", "      version: 1.0.24\n") // kcm's Management has all providers
	s.k0rdentSecrets(t)
	s.fleet.Commit("Start the management cluster")
	s.fleet.Pull()
	cluster := s.startK0rdent(t)
	played := &kcm{cluster: cluster}
	go played.report(t.Context())

	for i, c := range byKCM {
		waiting := "k0rdent-" + c.step
		s.checksHealth(t, waiting)
		if next := followers(t, s, waiting); len(next) == 0 {
			t.Errorf("nothing depends on %s", waiting)
		} else {
			for _, name := range next {
				s.flux.Says("flux-system", name, false, "dependency 'flux-system/"+waiting+"' is not ready")
			}
		}
		for _, kind := range []string{"ClusterDeployment", "AccessManagement", "ClusterTemplateChain"} {
			if names := played.names(t, kind); len(names) > 0 {
				t.Errorf("%s are applied before kcm has created its %s: %v", kind, c.kind, names)
			}
		}
		if names := played.names(t, "Credential"); c.step != "templates" && len(names) > 0 {
			t.Errorf("Credentials are applied before kcm has created its %s: %v", c.kind, names)
		}
		for _, name := range c.names {
			played.create(t, c.kind, c.namespace, name, c.spec)
		}
		s.flux.Says("flux-system", waiting, true, "")
		if !t.Failed() {
			fmt.Printf("\n%s%s waits for the %s that kcm creates, and step %d of the example after it\n", proof, waiting, c.kind, i+2)
		}
	}
	s.checksHealth(t, "k0rdent-access")
	if names := played.names(t, "ClusterDeployment"); len(names) > 0 {
		t.Errorf("ClusterDeployments are applied before kcm has handed on what they use: %v", names)
	}
	for _, c := range handedOn {
		played.handOn(t, c.kind, c.name, c.namespace)
	}
	s.flux.Ready(patience)
	if names := played.names(t, "ClusterDeployment"); len(names) != 4 {
		t.Errorf("ClusterDeployments %v, want 4", names)
	}
	if !t.Failed() {
		fmt.Printf("\n%sall Kustomizations of examples/k0rdent are ready with createRelease, createTemplates and createManagement\n", proof)
	}
}

// k0rdentSecrets creates the Secrets of the example.
func (s *site) k0rdentSecrets(t *testing.T) {
	t.Helper()
	keys := filepath.Join(s.fleet.Dir, "..", "keys")
	must(t, os.MkdirAll(keys, 0o700))
	must(t, os.WriteFile(filepath.Join(keys, "vsphere-password"), []byte(harness.DeclaredValue), 0o600))
	var env []string
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_CLIENT_SECRET", "OPENSTACK_CLOUDS_YAML", "VSPHERE_USERNAME", "WAREHOUSE_KUBECONFIG",
		"BASELINE_GIT_USERNAME", "BASELINE_GIT_PASSWORD",
	} {
		env = append(env, name+"="+harness.DeclaredValue)
	}
	s.fleet.SyncSecrets(env...)
}

// startK0rdent starts a cluster with kcm's definitions, Flux without lockdown as in the example, and its root sync.
func (s *site) startK0rdent(t *testing.T) *harness.Cluster {
	t.Helper()
	components := harness.Components(t)
	cluster := harness.StartCluster(t, slices.Concat(harness.FluxKinds(t), harness.CertManagerKinds(), components, embeddedK0rdent(t, "1.11"))...)
	s.flux = harness.StartFluxUnlocked(t, cluster, s.fleet.Internet)
	rendered := s.rendered(t)
	cluster.DefineKinds(rendered)
	cluster.DeclareAbsent(s.fleet.Internet)
	s.secret(t, "flux-system", "sops-age", map[string][]byte{"age.agekey": []byte(s.fleet.Key("clusters/management"))})
	for _, object := range rendered {
		if object.GetKind() != "FluxInstance" {
			continue
		}
		spec, _, _ := unstructured.NestedMap(object.Object, "spec")
		sync := harness.Sync(t, spec)
		s.gitSecret(t, "flux-system", s.pullSecret(sync), s.fleet.PlatformURL())
		cluster.Apply(sync...)
	}
	return cluster
}

// checksHealth waits until Flux has applied a Kustomization and waits for the objects that it names.
func (s *site) checksHealth(t *testing.T, name string) {
	t.Helper()
	harness.Eventually(t, patience, "the health checks of Kustomization flux-system/"+name, func(ctx context.Context) (bool, string) {
		k, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(k.Object, "status", "conditions")
		said := fmt.Sprint(conditions)
		return strings.Contains(said, "Running health checks"), said
	})
}

// followers returns the Kustomizations that depend on one, once the root has applied them.
func followers(t *testing.T, s *site, name string) []string {
	t.Helper()
	list, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	var out []string
	for _, k := range list.Items {
		deps, _, _ := unstructured.NestedSlice(k.Object, "spec", "dependsOn")
		if slices.ContainsFunc(deps, func(d any) bool { return d.(map[string]any)["name"] == name }) {
			out = append(out, k.GetName())
		}
	}
	return out
}

// kcm plays the part of k0rdent's controller.
type kcm struct{ cluster *harness.Cluster }

// create creates an object as kcm does; it becomes ready a moment later.
func (k *kcm) create(t *testing.T, kind, namespace, name string, spec map[string]any) {
	t.Helper()
	resource, err := k.cluster.Resource(k0rdentGroup.WithKind(kind), namespace)
	must(t, err)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": k0rdentGroup.String(), "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
	if namespace != "" {
		o.SetNamespace(namespace)
	}
	_, err = resource.Create(t.Context(), o, metav1.CreateOptions{FieldManager: "kcm"})
	must(t, err)
}

// handOn copies an object of kcm's namespace to another one.
func (k *kcm) handOn(t *testing.T, kind, name, namespace string) {
	t.Helper()
	resource, err := k.cluster.Resource(k0rdentGroup.WithKind(kind), "kcm-system")
	must(t, err)
	o, err := resource.Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	k.create(t, kind, namespace, name, spec)
}

func (k *kcm) names(t *testing.T, kind string) []string {
	t.Helper()
	resource, err := k.cluster.Resource(k0rdentGroup.WithKind(kind), "")
	must(t, err)
	list, err := resource.List(t.Context(), metav1.ListOptions{})
	must(t, err)
	var names []string
	for _, o := range list.Items {
		names = append(names, o.GetName())
	}
	return names
}

// report writes the status of ready objects, as kcm does.
func (k *kcm) report(ctx context.Context) {
	for ctx.Err() == nil {
		for kind, status := range reports {
			resource, err := k.cluster.Resource(k0rdentGroup.WithKind(kind), "")
			if err != nil {
				continue
			}
			list, err := resource.List(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			for _, o := range list.Items {
				k.ready(ctx, &o, status[1])
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// ready writes the status of one object, unless the object has it already.
func (k *kcm) ready(ctx context.Context, o *unstructured.Unstructured, status map[string]any) {
	now := maps.Clone(status)
	if _, observes := now["observedGeneration"]; observes {
		now["observedGeneration"] = o.GetGeneration()
	}
	if fmt.Sprint(o.Object["status"]) == fmt.Sprint(now) {
		return
	}
	resource, err := k.cluster.Resource(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return
	}
	o.Object["status"] = now
	_, _ = resource.UpdateStatus(ctx, o, metav1.UpdateOptions{}) // a conflict is repeated
}

// embeddedK0rdent returns definitions of the kinds of k0rdent in an edition, "" for the newest, with the schemas that
// Fleetwright embeds, and any status.
func embeddedK0rdent(t *testing.T, edition string) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(harness.Root(t), "schemas", "data", k0rdentGroup.Group+"_"+k0rdentGroup.Version+"_*.json.gz"))
	must(t, err)
	var out []*unstructured.Unstructured
	for _, file := range files {
		if of := strings.TrimSuffix(file, ".json.gz") + "_" + edition + ".json.gz"; slices.Contains(files, of) {
			file = of
		} else if strings.Count(filepath.Base(file), "_") > 2 {
			continue
		}
		out = append(out, embedded(t, file))
	}
	if len(out) < 10 {
		t.Fatalf("only %d kinds of k0rdent are embedded", len(out))
	}
	return out
}

// embedded returns the definition of the kind of an embedded schema.
func embedded(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	f, err := os.Open(file)
	must(t, err)
	defer f.Close() //nolint:errcheck // it is only read
	text, err := gzip.NewReader(f)
	must(t, err)
	var kind struct {
		Group, Version, Kind string
		Namespaced           bool
		Schema               map[string]any
	}
	must(t, json.NewDecoder(text).Decode(&kind))
	plural, singular := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})
	scope := "Cluster"
	if kind.Namespaced {
		scope = "Namespaced"
	}
	must(t, unstructured.SetNestedMap(kind.Schema, map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, "properties", "status"))
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural.Resource + "." + kind.Group},
		"spec": map[string]any{
			"group": kind.Group, "scope": scope, "names": map[string]any{"kind": kind.Kind, "plural": plural.Resource, "singular": singular.Resource},
			"versions": []any{map[string]any{
				"name": kind.Version, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": kind.Schema},
			}},
		},
	}}
}
