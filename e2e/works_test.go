package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// Values that the platform's engineers and the tenants have encrypted in Git.
const (
	platformSecret = "the platform's"
	tenantSecret   = "the tenant's"
)

// works shows what Flux has created from the repositories under lockdown. The test already knows that every
// Kustomization is ready at its source's revision.
func (s *site) works(t *testing.T) {
	t.Run("decryption", s.decryption)
	t.Run("substitution", s.substitution)
	t.Run("order", s.order)
	t.Run("tenants", s.tenantsWork)
}

// decryption reads the platform's Secret, which Git holds encrypted to the cluster's key.
func (s *site) decryption(t *testing.T) {
	s.wantSecret(t, "flux-system", "platform-secret", platformSecret)
	s.proved(t, "a Secret whose stringData Fleetwright encrypted by the rendered .sops.yaml is decrypted with the cluster's key")
	for _, d := range s.fleet.Declared() {
		s.declared(t, d)
	}
}

// declared compares a declared Secret on the cluster with the sources of its values.
func (s *site) declared(t *testing.T, d harness.DeclaredSecret) {
	t.Helper()
	got, err := s.flux.Kube.CoreV1().Secrets(d.Namespace).Get(t.Context(), d.Name, metav1.GetOptions{})
	if err != nil {
		t.Errorf("declared Secret %s/%s: %v", d.Namespace, d.Name, err)
		return
	}
	for _, key := range d.Keys {
		value := string(got.Data[key.Name])
		switch {
		case key.From["ageKey"] != nil:
			lines := strings.Split(strings.TrimSpace(value), "\n")
			identity, err := age.ParseX25519Identity(lines[len(lines)-1])
			must(t, err)
			if !slices.Contains(s.fleet.Recipients(d.Tenant), any(identity.Recipient().String())) {
				t.Errorf("the key in %s/%s is none of the recipients of %s", d.Namespace, d.Name, d.Tenant)
			}
		case key.From["generate"] != nil && len(value) < 32, key.From["generate"] == nil && d.Tenant == "" && value != harness.DeclaredValue, value == "":
			t.Errorf("%s of declared Secret %s/%s is not what was encrypted", key.Name, d.Namespace, d.Name)
		}
	}
	s.proved(t, "%s/%s, declared and made by secrets sync, is decrypted with the cluster's key", d.Namespace, d.Name)
}

func (s *site) wantSecret(t *testing.T, namespace, name, want string) {
	t.Helper()
	got, err := s.flux.Kube.CoreV1().Secrets(namespace).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	if string(got.Data["value"]) != want {
		t.Errorf("Secret %s/%s is not what was encrypted", namespace, name)
	}
}

// substitution finds each use of a variable in the repository's add-ons, and compares the
// object on the cluster with the cluster's own value.
func (s *site) substitution(t *testing.T) {
	variables, err := s.flux.Kube.CoreV1().ConfigMaps("flux-system").Get(t.Context(), "cluster-vars", metav1.GetOptions{})
	must(t, err)
	if variables.Data["CLUSTER_NAME"] != s.cluster {
		t.Errorf("cluster-vars are those of %q", variables.Data["CLUSTER_NAME"])
	}
	used := 0
	for _, object := range s.built(t) {
		text, err := json.Marshal(object.Object)
		must(t, err)
		if !strings.Contains(string(text), "${") || object.GetAnnotations()["kustomize.toolkit.fluxcd.io/substitute"] == "disabled" {
			continue
		}
		want := string(text)
		for name, value := range variables.Data {
			want = strings.ReplaceAll(want, "${"+name+"}", value)
		}
		s.wantFields(t, object, want)
		used++
	}
	s.proved(t, "%d objects use variables and have the cluster's own", used)
	if used == 0 && s.fleet.Name != "homelab" { // homelab writes all values out until day 2
		t.Error("no object uses a variable")
	}
}

// wantFields compares an object on the cluster with the text of its spec.
func (s *site) wantFields(t *testing.T, object *unstructured.Unstructured, text string) {
	t.Helper()
	var want, got map[string]any
	must(t, json.Unmarshal([]byte(text), &want))
	resource, err := s.flux.Resource(object.GroupVersionKind(), object.GetNamespace())
	must(t, err)
	live, err := resource.Get(t.Context(), object.GetName(), metav1.GetOptions{})
	must(t, err)
	got = live.Object
	if path := differs(want["spec"], got["spec"], "spec"); path != "" {
		t.Errorf("%s %s/%s is not what the repository says, in %s", object.GetKind(), object.GetNamespace(), object.GetName(), path)
	}
}

// differs returns the path at which a value is not as wanted, "" if there is none. The cluster may have more fields, from
// defaults; a number from a variable was a string before the substitution.
func differs(want, got any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if found := differs(want[key], fields[key], path+"."+key); found != "" {
				return found
			}
		}
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			return path
		}
		for i := range want {
			if found := differs(want[i], items[i], fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	default:
		if fmt.Sprint(want) != fmt.Sprint(got) {
			return fmt.Sprintf("%s: %v, want %v", path, got, want)
		}
	}
	return ""
}

// built returns the objects of the platform's Kustomizations that substitute variables, before the substitution.
func (s *site) built(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	list, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	var objects []*unstructured.Unstructured
	for _, item := range list.Items {
		if _, substitutes, _ := unstructured.NestedMap(item.Object, "spec", "postBuild"); !substitutes {
			continue
		}
		path, _, _ := unstructured.NestedString(item.Object, "spec", "path")
		namespace, _, _ := unstructured.NestedString(item.Object, "spec", "targetNamespace")
		for _, object := range harness.Build(t, filepath.Join(s.fleet.Dir, path)) {
			if namespace != "" {
				object.SetNamespace(namespace)
			}
			objects = append(objects, object)
		}
	}
	return objects
}

// order shows that no object of a Kustomization was created before its dependencies
// were ready.
func (s *site) order(t *testing.T) {
	list, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	all := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		all[list.Items[i].GetName()] = &list.Items[i]
	}
	checked := 0
	for _, k := range all {
		dependencies, _, _ := unstructured.NestedSlice(k.Object, "spec", "dependsOn")
		for _, dependency := range dependencies {
			on := all[dependency.(map[string]any)["name"].(string)]
			if since := readySince(t, on); s.firstObject(t, k).Before(&since) {
				t.Errorf("%s applied before %s was ready, at %s", k.GetName(), on.GetName(), since)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("no Kustomization depends on another one")
	}
	s.proved(t, "%d dependencies kept", checked)
}

func readySince(t *testing.T, object *unstructured.Unstructured) metav1.Time {
	t.Helper()
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Ready" {
			var since metav1.Time
			must(t, since.UnmarshalQueryParameter(c["lastTransitionTime"].(string)))
			return since
		}
	}
	t.Fatalf("%s was never ready", object.GetName())
	return metav1.Time{}
}

// firstObject returns when the first of a Kustomization's own objects was created, without those that its
// controllers' charts would create, and namespaces that others share.
func (s *site) firstObject(t *testing.T, k *unstructured.Unstructured) *metav1.Time {
	t.Helper()
	first := metav1.Now()
	for _, kind := range []struct{ group, version, kind string }{
		{"helm.toolkit.fluxcd.io", "v2", "HelmRelease"}, {"", "v1", "Namespace"}, {"cert-manager.io", "v1", "ClusterIssuer"},
	} {
		resource, err := s.flux.Resource(unstructuredKind(kind.group, kind.version, kind.kind), "")
		if err != nil {
			continue // no add-on of this example contains it
		}
		list, err := resource.List(t.Context(), metav1.ListOptions{LabelSelector: "kustomize.toolkit.fluxcd.io/name=" + k.GetName()})
		must(t, err)
		for _, item := range list.Items {
			if made := item.GetCreationTimestamp(); made.Before(&first) {
				first = made
			}
		}
	}
	return &first
}

// tenantsWork shows that each tenant's own repository, branch or artifact was pulled with
// its own credentials, decrypted with its own key and applied.
func (s *site) tenantsWork(t *testing.T) {
	for _, tenant := range s.tenants(t) {
		list, err := s.flux.Kube.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{
			FieldSelector: "metadata.name=config", LabelSelector: "kustomize.toolkit.fluxcd.io/namespace=" + tenant.sync,
		})
		must(t, err)
		if len(list.Items) != 1 || !slices.Contains(tenant.namespaces, list.Items[0].Namespace) {
			t.Errorf("the ConfigMap of tenant %s is not in its namespaces: %v", tenant.name, list.Items)
			continue
		}
		namespace := list.Items[0].Namespace
		if tenant.source.GetKind() == "GitRepository" {
			s.wantSecret(t, namespace, "password", tenantSecret)
		}
		s.wantNoToken(t, tenant)
		s.proved(t, "%s pulled %s with its own credentials and applied it as %s/%s", tenant.name, tenant.field("url"), tenant.sync, tenant.name)
	}
}

// wantNoToken checks that pods get no token of the reconciler's account.
func (s *site) wantNoToken(t *testing.T, tenant *tenant) {
	t.Helper()
	var account *corev1.ServiceAccount
	account, err := s.flux.Kube.CoreV1().ServiceAccounts(tenant.sync).Get(t.Context(), tenant.name, metav1.GetOptions{})
	must(t, err)
	if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
		t.Errorf("pods of %s may mount the token of %s", tenant.sync, tenant.name)
	}
}

// starterFiles returns the files that a tenant's repository starts with.
func (s *site) starterFiles(tenant string) []string {
	if s.fleet.TenantSpec(tenant).Starter == "podinfo" {
		return []string{"helmrelease.yaml", "ocirepository.yaml"}
	}
	return []string{"deployment.yaml", "service.yaml"}
}

// ownFiles adds a tenant's own files to the starter of each tenant with a Git source.
func (s *site) ownFiles(t *testing.T) {
	t.Helper()
	for _, tenant := range s.fleet.GitTenants() {
		starter := "- " + strings.Join(s.starterFiles(tenant.Name), "\n- ") + "\n"
		s.fleet.Put(tenant.URL, tenant.Branch, map[string]string{
			"base/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" +
				"resources:\n" + starter + "- config.yaml\n- password.sops.yaml\n",
			"base/config.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: " + tenant.Namespace + "\ndata:\n  from: git\n",
			"base/password.sops.yaml": secret(tenant.Namespace, "password", tenantSecret),
		})
	}
}
