package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// A trespass is a folder of a tenant's repository that Flux is asked to apply, and Flux's
// answer. The folder also contains an innocent ConfigMap.
type trespass struct {
	folder  string
	object  string
	refused string   // the Kustomization's message; empty if it becomes ready
	applied []string // the IDs of the objects that are applied then, besides the innocent one
}

// repositories lets tenants commit objects that they must not create. One change shows what the tenant's own Kustomization
// reports; the others use Kustomizations that differ from it only in the path.
func (s *site) repositories(t *testing.T, tenants []*tenant) {
	before := map[string]map[string]types.UID{}
	for _, tenant := range tenants {
		before[tenant.name] = s.applied(t, tenant)
		s.trespass(t, tenant)
	}
	wantLockdown := s.lockdown(t, tenants[0])
	for _, tenant := range tenants {
		s.wantTrespasses(t, tenant, before[tenant.name])
		s.putRight(t, tenant)
	}
	wantLockdown()
	s.flux.Ready(patience)
	for _, tenant := range tenants {
		if after := s.applied(t, tenant); !maps.Equal(after, before[tenant.name]) {
			t.Errorf("tenant %s has put its repository right and has %v, want %v", tenant.name, after, before[tenant.name])
		}
	}
}

// trespassesOf returns the trespasses that the tenant commits. With one workload namespace Flux puts every
// object into it, whatever the object's own namespace; with several it respects the object's.
func (s *site) trespassesOf(tenant *tenant) []trespass {
	here, helm := tenant.namespaces[0], tenant.name+"-helm"
	moved := []string{"ConfigMap " + here + "/trespass"}
	elsewhere, role, inSync := "", "attempting to grant RBAC permissions not currently held", badAccount // helm's it must be here
	if len(tenant.namespaces) > 1 {
		moved, elsewhere, inSync = nil, `cannot patch resource "configmaps"`, `cannot patch resource "kustomizations"`
	}
	if s.fleet.Profile(tenant.name) == "restricted" {
		role = `cannot patch resource "roles"`
	}
	object := func(apiVersion, kind, namespace, rest string) string {
		return fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: trespass, namespace: %s}, %s}", apiVersion, kind, namespace, rest)
	}
	kustomization := func(namespace, spec string) string {
		return object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", namespace, "spec: {interval: 1h, prune: true, "+spec+"}")
	}
	return []trespass{
		{"elsewhere", object("v1", "ConfigMap", "flux-system", ""), elsewhere, moved},
		{"labels", "{apiVersion: v1, kind: Namespace, metadata: {name: " + here + ", labels: {pod-security.kubernetes.io/enforce: privileged}}}",
			`cannot patch resource "namespaces"`, nil},
		{"quota", object("v1", "ResourceQuota", here, `spec: {hard: {pods: "1000"}}`), `cannot patch resource "resourcequotas"`, nil},
		{"role", object("rbac.authorization.k8s.io/v1", "Role", here, `rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`), role, nil},
		{"source-of-the-platform", kustomization(here, "serviceAccountName: "+helm+", sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"), badNamespace, nil},
		{"source-of-anybody", object("source.toolkit.fluxcd.io/v1", "GitRepository", here, `spec: {interval: 1h, url: "https://git.example.com/anybody/anything"}`), badURL, nil},
		{"no-account", kustomization(here, "sourceRef: {kind: GitRepository, name: web}"), badAccount, nil},
		{"in-sync-namespace", kustomization(tenant.sync, "serviceAccountName: "+tenant.name+", sourceRef: {kind: GitRepository, name: web}"), inSync, nil},
	}
}

// trespass commits the tenant's folders, and asks Flux to apply each.
func (s *site) trespass(t *testing.T, tenant *tenant) {
	t.Helper()
	files := map[string]string{}
	for _, trespass := range s.trespassesOf(tenant) {
		folder := "trespasses/" + trespass.folder + "/"
		files[folder+"trespass.yaml"] = trespass.object
		files[folder+"innocent.yaml"] = innocent(tenant, trespass.folder)
		files[folder+"kustomization.yaml"] = "resources: [innocent.yaml, trespass.yaml]"
	}
	s.publish(t, tenant, map[string]string{
		"trespass.yaml": `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: trespass}, ` +
			`roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, ` +
			`subjects: [{kind: ServiceAccount, name: ` + tenant.name + `, namespace: ` + tenant.sync + `}]}`,
		"innocent.yaml": innocent(tenant, "own"),
	}, files)
	s.fetch(tenant)
	for _, trespass := range s.trespassesOf(tenant) {
		s.kustomization(t, tenant, tenant.sync, trespass.folder, func(spec map[string]any) {
			spec["path"], spec["deletionPolicy"] = "./trespasses/"+trespass.folder, "Delete" // without waiting
		})
	}
}

func innocent(tenant *tenant, name string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: innocent-%s, namespace: %s}}", name, tenant.namespaces[0])
}

// kustomization creates a copy of the tenant's own Kustomization with a changed spec.
func (s *site) kustomization(t *testing.T, tenant *tenant, namespace, name string, change func(spec map[string]any)) {
	t.Helper()
	spec, _, _ := unstructured.NestedMap(s.tenantSync(t.Context(), tenant).Object, "spec")
	change(spec)
	must(t, s.flux.Client.Apply(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": name, "namespace": namespace}, "spec": spec,
	}}))
}

// wantTrespasses compares Flux's answers, and the objects that it applied, with the expected ones.
func (s *site) wantTrespasses(t *testing.T, tenant *tenant, before map[string]types.UID) {
	t.Helper()
	s.flux.Says(tenant.sync, tenant.name, false, `cannot patch resource "clusterrolebindings"`)
	want := slices.Collect(maps.Keys(before))
	refused := 1
	for _, trespass := range s.trespassesOf(tenant) {
		s.flux.Says(tenant.sync, trespass.folder, trespass.refused == "", trespass.refused)
		if trespass.refused != "" {
			refused++
			continue
		}
		want = append(append(want, "ConfigMap "+tenant.namespaces[0]+"/innocent-"+trespass.folder), trespass.applied...)
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(s.applied(t, tenant))); !slices.Equal(got, want) {
		t.Errorf("Flux applied of tenant %s\n%s\nwant\n%s", tenant.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s.proved(t, "%s commits %d changes that Flux refuses, and nothing of them appears", tenant.name, refused)
}

// putRight reverts the trespasses.
func (s *site) putRight(t *testing.T, tenant *tenant) {
	t.Helper()
	for _, trespass := range s.trespassesOf(tenant) {
		must(t, s.flux.Any.Resource(harness.Kustomizations).Namespace(tenant.sync).Delete(t.Context(), trespass.folder, metav1.DeleteOptions{}))
	}
	s.publish(t, tenant, nil, nil)
	s.fetch(tenant)
}

// lockdown shows what Flux's own flags refuse where there are no admission policies: a
// source of another namespace, and any account but the namespace's default one.
// It asks Flux; the returned function waits for the answer.
func (s *site) lockdown(t *testing.T, tenant *tenant) (want func()) {
	t.Helper()
	const namespace = "lockdown"
	namespaces := s.flux.Kube.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must(t, err)
	source := tenant.source.DeepCopy()
	source.Object = map[string]any{
		"apiVersion": source.GetAPIVersion(), "kind": source.GetKind(), "spec": source.Object["spec"],
		"metadata": map[string]any{"name": tenant.name, "namespace": namespace},
	}
	must(t, s.flux.Client.Apply(t.Context(), source))
	if name := tenant.field("secretRef", "name"); name != "" {
		s.gitSecret(t, namespace, name, tenant.field("url"))
	}
	anonymous := func(spec map[string]any) {
		delete(spec, "serviceAccountName")
		delete(spec, "decryption")
		spec["path"], spec["targetNamespace"] = "./trespasses/elsewhere", namespace
	}
	s.kustomization(t, tenant, namespace, "anonymous", anonymous)
	s.kustomization(t, tenant, namespace, "foreign", func(spec map[string]any) {
		anonymous(spec)
		spec["sourceRef"] = map[string]any{"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}
	})
	return func() {
		s.flux.Says(namespace, "anonymous", false, `User "system:serviceaccount:lockdown:default" cannot patch resource "configmaps"`)
		s.flux.Says(namespace, "foreign", false, "cross-namespace references have been blocked")
		kustomizations := s.flux.Any.Resource(harness.Kustomizations).Namespace(namespace)
		must(t, kustomizations.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		must(t, namespaces.Delete(t.Context(), namespace, metav1.DeleteOptions{}))
		s.proved(t, "where there is no policy, Flux's flags refuse a source of another namespace, and no account means default, which may do nothing")
	}
}
