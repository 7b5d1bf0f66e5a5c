package tenant

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

const rbacComment = `The accounts that Flux works with for the tenant, and what they may do. The one in the
sync namespace has no role there: the tenant cannot touch its own source and keys.`

// role and binding of kustomize-controller's account, named as `flux create
// tenant` does.
func reconcilerRole(t *v1alpha1.Tenant) string { return t.Metadata.Name + "-reconciler" }

// granted is what a profile lets an account manage in a workload namespace.
type granted struct{ group, resources []string }

var (
	// workloads is the profile restricted. Server-side apply creates and
	// patches, pruning lists and deletes. What protects the platform from the
	// tenant (NetworkPolicy, ResourceQuota, LimitRange) is not in it, nor is a
	// way into running pods. Secrets are, since a repository may hold encrypted
	// ones and Helm keeps its releases in them.
	workloads = []granted{
		{[]string{""}, []string{"configmaps", "persistentvolumeclaims", "secrets", "services"}},
		{[]string{"apps"}, []string{"daemonsets", "deployments", "statefulsets"}},
		{[]string{"autoscaling"}, []string{"horizontalpodautoscalers"}},
		{[]string{"batch"}, []string{"cronjobs", "jobs"}},
		{[]string{"gateway.networking.k8s.io"}, []string{"grpcroutes", "httproutes"}},
		{[]string{"networking.k8s.io"}, []string{"ingresses"}},
		{[]string{"policy"}, []string{"poddisruptionbudgets"}},
	}
	// identities is what the profile edit adds: most charts make their own
	// accounts and roles. The API server refuses roles that grant more than
	// their author has.
	identities = []granted{
		{[]string{""}, []string{"serviceaccounts"}},
		{[]string{"rbac.authorization.k8s.io"}, []string{"rolebindings", "roles"}},
	}
	// fluxObjects are granted with every profile. The admission policy says
	// which sources and accounts they may use.
	fluxObjects = []granted{
		{[]string{fluxapi.HelmGroup}, []string{"helmreleases"}},
		{[]string{fluxapi.KustomizeGroup}, []string{"kustomizations"}},
		{[]string{fluxapi.SourceGroup}, []string{"buckets", "gitrepositories", "helmrepositories", "ocirepositories"}},
	}
	// watched is read by the health checks, which look below a Deployment.
	watched = []v1alpha1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"events", "pods"}, Verbs: readVerbs},
		{APIGroups: []string{"apps"}, Resources: []string{"replicasets"}, Verbs: readVerbs},
	}
	readVerbs  = []string{"get", "list", "watch"}
	applyVerbs = []string{"get", "list", "watch", "create", "patch", "delete"}
	// Helm stores its releases with plain updates.
	helmVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete"}
)

// accounts are a tenant's service accounts, roles and bindings. The account
// named default exists in each namespace anyway; its token is not mounted.
func accounts(t *v1alpha1.Tenant) []any {
	sync := t.Spec.SyncNamespace
	objects := []any{serviceAccount(t, kustomizeAccount(t), sync), serviceAccount(t, "default", sync)}
	for _, ns := range t.Spec.Namespaces {
		objects = slices.Concat(objects,
			[]any{serviceAccount(t, helmAccount(t), ns), serviceAccount(t, "default", ns)},
			grants(t, ns, reconcilerRole(t), kustomizeAccount(t), sync, applyVerbs),
			grants(t, ns, helmAccount(t), helmAccount(t), ns, helmVerbs),
		)
	}
	return objects
}

func serviceAccount(t *v1alpha1.Tenant, name, namespace string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     emit.TypeMeta(corev1.SchemeGroupVersion, "ServiceAccount"),
		ObjectMeta:                   objectMeta(t, name, namespace),
		AutomountServiceAccountToken: new(false),
	}
}

// grants are a role in a workload namespace and its binding to an account. The
// profile admin binds Kubernetes' own ClusterRole too, in the namespace only.
func grants(t *v1alpha1.Tenant, namespace, name, account, accountNamespace string, verbs []string) []any {
	subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: accountNamespace}
	binding := func(name, kind, role string) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{
			TypeMeta:   emit.TypeMeta(rbacv1.SchemeGroupVersion, "RoleBinding"),
			ObjectMeta: objectMeta(t, name, namespace),
			Subjects:   []rbacv1.Subject{subject},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		}
	}
	objects := []any{
		&role{
			TypeMeta:   emit.TypeMeta(rbacv1.SchemeGroupVersion, "Role"),
			ObjectMeta: objectMeta(t, name, namespace),
			Rules:      rules(t.Spec.Access, verbs),
		},
		binding(name, "Role", name),
	}
	if t.Spec.Access.Profile == profileAdmin {
		objects = append(objects, binding(name+"-admin", "ClusterRole", "admin"))
	}
	return objects
}

// role is an rbacv1.Role, its rules in the order in which people write them.
type role struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []v1alpha1.PolicyRule `json:"rules"`
}

// rules are those of a profile, and what the specification grants beside them.
func rules(access v1alpha1.Access, verbs []string) []v1alpha1.PolicyRule {
	kinds := workloads
	if access.Profile == profileEdit {
		kinds = slices.Concat(workloads, identities)
	}
	kinds = slices.Concat(kinds, fluxObjects)
	out := make([]v1alpha1.PolicyRule, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, v1alpha1.PolicyRule{APIGroups: k.group, Resources: k.resources, Verbs: verbs})
	}
	return slices.Concat(out, watched, access.Rules)
}
