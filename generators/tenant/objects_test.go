package tenant

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// decoder decodes strictly into the typed Go APIs.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, corev1.AddToScheme, rbacv1.AddToScheme, networkingv1.AddToScheme, admissionregistrationv1.AddToScheme,
		kustomizev1.AddToScheme, sourcev1.AddToScheme, helmv2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

// documents are the KRM documents of a target's files.
func documents(t *testing.T, target tree.Target, each func(path string, doc []byte)) {
	t.Helper()
	for f := range target.Tree.All() {
		if !strings.HasSuffix(f.Path, ".yaml") || strings.HasPrefix(f.Path, ".") {
			continue
		}
		reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(f.Content)))
		for {
			doc, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", f.Path, err)
			}
			each(f.Path, doc)
		}
	}
}

// objectsOf decodes the objects of a target; patches and kustomizations are not
// among them.
func objectsOf(t *testing.T, target tree.Target) []metav1.Object {
	t.Helper()
	d := decoder(t)
	var out []metav1.Object
	documents(t, target, func(path string, doc []byte) {
		if strings.HasSuffix(path, "-patch.yaml") || strings.HasSuffix(path, "/kustomization.yaml") || path == "kustomization.yaml" {
			return
		}
		object, _, err := d.Decode(doc, nil, nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", path, err, doc)
			return
		}
		accessor, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, accessor)
	})
	return out
}

func all[T metav1.Object](objects []metav1.Object) []T {
	var out []T
	for _, o := range objects {
		if typed, ok := o.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

func TestEveryObjectDecodesStrictly(t *testing.T) {
	cases(t, func(t *testing.T, _ string, spec *v1alpha1.Spec) {
		for _, target := range render(t, spec) {
			if len(objectsOf(t, target)) == 0 {
				t.Errorf("%s has no objects", target.Name)
			}
			d := decoder(t)
			documents(t, target, func(path string, doc []byte) {
				if strings.HasSuffix(path, "-patch.yaml") {
					if _, _, err := d.Decode(doc, nil, nil); err != nil {
						t.Errorf("%s: %v", path, err)
					}
				}
				if bytes.Contains(doc, []byte("creationTimestamp")) || bytes.Contains(doc, []byte("status:")) {
					t.Errorf("%s holds what only a cluster writes:\n%s", path, doc)
				}
			})
		}
	})
}

func TestLeastPrivilege(t *testing.T) {
	cases(t, func(t *testing.T, _ string, spec *v1alpha1.Spec) {
		objects := objectsOf(t, render(t, spec)[0])
		for _, tenant := range spec.Tenants {
			checkNamespaces(t, tenant, objects)
			checkGrants(t, tenant, objects)
			checkAccounts(t, tenant, objects)
			checkFences(t, tenant, objects)
		}
	})
}

func owned(tenant *v1alpha1.Tenant) []string {
	return append([]string{tenant.Spec.SyncNamespace}, tenant.Spec.Namespaces...)
}

func checkNamespaces(t *testing.T, tenant *v1alpha1.Tenant, objects []metav1.Object) {
	t.Helper()
	var names []string
	for _, ns := range all[*corev1.Namespace](objects) {
		names = append(names, ns.Name)
		protected := ns.Annotations[emit.AnnotationPrune] == emit.Disabled
		if removed := tenant.Spec.State == v1alpha1.StateRemoved; protected == removed {
			t.Errorf("namespace %s: protected from pruning: %t, tenant is %s", ns.Name, protected, tenant.Spec.State)
		}
		if ns.Labels["pod-security.kubernetes.io/enforce"] == "" {
			t.Errorf("namespace %s enforces no pod security", ns.Name)
		}
	}
	if !slices.Equal(names, owned(tenant)) {
		t.Errorf("namespaces %v, want %v", names, owned(tenant))
	}
	for _, o := range objects {
		if o.GetLabels()[emit.LabelTenant] != tenant.Metadata.Name {
			t.Errorf("%T %s lacks the tenant's label", o, o.GetName())
		}
		if ns := o.GetNamespace(); ns != "" && !slices.Contains(owned(tenant), ns) {
			t.Errorf("%T %s stands in foreign namespace %s", o, o.GetName(), ns)
		}
	}
}

// never are what no tenant's role grants, in any verb that changes something.
var never = []string{
	"pods/exec", "pods/attach", "pods/portforward", "serviceaccounts/token",
	"namespaces", "networkpolicies", "resourcequotas", "limitranges",
}

func checkGrants(t *testing.T, tenant *v1alpha1.Tenant, objects []metav1.Object) {
	t.Helper()
	if n := len(all[*rbacv1.ClusterRoleBinding](objects)) + len(all[*rbacv1.ClusterRole](objects)); n != 0 {
		t.Errorf("%d cluster-wide grants", n)
	}
	roles := map[string]bool{}
	for _, r := range all[*rbacv1.Role](objects) {
		roles[r.Namespace+"/"+r.Name] = true
		if r.Namespace == tenant.Spec.SyncNamespace {
			t.Errorf("role %s grants something in the sync namespace", r.Name)
		}
		for _, rule := range r.Rules {
			for _, name := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				if strings.Contains(name, "*") || slices.Contains([]string{"escalate", "bind", "impersonate", "deletecollection"}, name) {
					t.Errorf("role %s grants %q", r.Name, name)
				}
			}
			for _, resource := range rule.Resources {
				if slices.Contains(never, resource) && !slices.Equal(rule.Verbs, readVerbs) {
					t.Errorf("role %s grants %v on %s", r.Name, rule.Verbs, resource)
				}
			}
		}
	}
	for _, b := range all[*rbacv1.RoleBinding](objects) {
		switch {
		case b.Namespace == tenant.Spec.SyncNamespace:
			t.Errorf("binding %s grants something in the sync namespace", b.Name)
		case b.RoleRef.Kind == "Role" && !roles[b.Namespace+"/"+b.RoleRef.Name]:
			t.Errorf("binding %s refers to no role", b.Name)
		case b.RoleRef.Kind == "ClusterRole" && (b.RoleRef.Name != "admin" || tenant.Spec.Access.Profile != profileAdmin):
			t.Errorf("binding %s binds ClusterRole %s", b.Name, b.RoleRef.Name)
		}
		for _, s := range b.Subjects {
			own := s.Name == kustomizeAccount(tenant) && s.Namespace == tenant.Spec.SyncNamespace ||
				s.Name == helmAccount(tenant) && s.Namespace == b.Namespace
			if s.Kind != "ServiceAccount" || !own {
				t.Errorf("binding %s grants to %v", b.Name, s)
			}
		}
	}
}

func checkAccounts(t *testing.T, tenant *v1alpha1.Tenant, objects []metav1.Object) {
	t.Helper()
	var got, want []string
	for _, a := range all[*corev1.ServiceAccount](objects) {
		got = append(got, a.Namespace+"/"+a.Name)
		if a.AutomountServiceAccountToken == nil || *a.AutomountServiceAccountToken {
			t.Errorf("the token of %s/%s is mounted", a.Namespace, a.Name)
		}
	}
	if tenant.Spec.State != v1alpha1.StateRemoved {
		want = append(want, tenant.Spec.SyncNamespace+"/"+kustomizeAccount(tenant), tenant.Spec.SyncNamespace+"/default")
		for _, ns := range tenant.Spec.Namespaces {
			want = append(want, ns+"/"+helmAccount(tenant), ns+"/default")
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("accounts %v, want %v", got, want)
	}
}

func checkFences(t *testing.T, tenant *v1alpha1.Tenant, objects []metav1.Object) {
	t.Helper()
	namespaces := len(tenant.Spec.Namespaces)
	syncs := len(all[*kustomizev1.Kustomization](objects))
	sources := len(all[*sourcev1.GitRepository](objects)) + len(all[*sourcev1.OCIRepository](objects))
	if active := tenant.Spec.State == v1alpha1.StateActive; active != (syncs == 1 && sources == 1) {
		t.Errorf("a tenant that is %s has %d Kustomizations and %d sources", tenant.Spec.State, syncs, sources)
	}
	if tenant.Spec.State == v1alpha1.StateRemoved {
		if len(objects) != namespaces+1 {
			t.Errorf("a removed tenant has %d objects", len(objects))
		}
		return
	}
	if q, l := len(all[*corev1.ResourceQuota](objects)), len(all[*corev1.LimitRange](objects)); q != namespaces || l != namespaces {
		t.Errorf("%d quotas and %d limit ranges for %d namespaces", q, l, namespaces)
	}
	denied := map[string]bool{}
	for _, p := range all[*networkingv1.NetworkPolicy](objects) {
		if len(p.Spec.Ingress)+len(p.Spec.Egress) == 0 && len(p.Spec.PolicyTypes) == 2 && len(p.Spec.PodSelector.MatchLabels) == 0 {
			denied[p.Namespace] = true
		}
	}
	if len(denied) != namespaces {
		t.Errorf("traffic is denied by default in %v", denied)
	}
	policies := all[*admissionregistrationv1.ValidatingAdmissionPolicy](objects)
	for _, b := range all[*admissionregistrationv1.ValidatingAdmissionPolicyBinding](objects) {
		if !slices.ContainsFunc(policies, func(p *admissionregistrationv1.ValidatingAdmissionPolicy) bool { return p.Name == b.Spec.PolicyName }) {
			t.Errorf("binding %s binds no policy", b.Name)
		}
		if b.Spec.MatchResources.NamespaceSelector.MatchLabels[emit.LabelTenant] != tenant.Metadata.Name {
			t.Errorf("binding %s selects %v", b.Name, b.Spec.MatchResources.NamespaceSelector)
		}
	}
	if len(policies) != 6 {
		t.Errorf("%d admission policies", len(policies))
	}
}

// What is generated must be let through by what is generated, and what a tenant's
// repository starts with must be granted to the account that applies it.
func TestGeneratedObjectsAreAdmitted(t *testing.T) {
	cases(t, func(t *testing.T, _ string, spec *v1alpha1.Spec) {
		tenant := spec.Tenants[0]
		if tenant.Spec.State == v1alpha1.StateRemoved {
			return
		}
		policies := judges(t, spec, tenant)
		role := rbacv1.Role{}
		platform := objectsOf(t, render(t, spec)[0])
		for _, r := range all[*rbacv1.Role](platform) {
			if r.Name == reconcilerRole(tenant) {
				role = *r
			}
		}
		for i, target := range render(t, spec) {
			for _, object := range objectsOf(t, target) {
				u := toUnstructured(t, object)
				resource, flux := resourceOf(u.GetKind()), strings.Contains(u.GetAPIVersion(), "toolkit.fluxcd.io")
				if flux {
					if refusal := judgeAll(t, policies, asked{object: u}); refusal != "" {
						t.Errorf("%s %s/%s is refused: %s", u.GetKind(), u.GetNamespace(), u.GetName(), refusal)
					}
				}
				if i > 0 && !grantsAll(role.Rules, u.GroupVersionKind().Group, resource, applyVerbs) {
					t.Errorf("%s may not apply %s", kustomizeAccount(tenant), resource)
				}
			}
		}
	})
}

func toUnstructured(t *testing.T, object any) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func grantsAll(rules []rbacv1.PolicyRule, group, resource string, verbs []string) bool {
	for _, r := range rules {
		if slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) &&
			!slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains(r.Verbs, v) }) {
			return true
		}
	}
	return false
}
