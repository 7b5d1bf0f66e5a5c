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

const rbacComment = `The accounts with which Flux works for the tenant, and their permissions. The account in the
sync namespace has no role there: the tenant cannot change its own source and keys.`

// reconcilerRole is the name of the role and the binding of kustomize-controller's account, as `flux create
// tenant` names them.
func reconcilerRole(t *v1alpha1.Tenant) string { return t.Metadata.Name + "-reconciler" }

// granted are resources that a profile lets an account manage in a workload namespace.
type granted struct{ group, resources []string }

var (
	// workloads are the permissions of the profile restricted. Server-side apply creates and patches, pruning lists and
	// deletes. They do not include the objects that protect the platform from the tenant (NetworkPolicy, ResourceQuota,
	// LimitRange), nor access to running pods. They include Secrets, because a repository may have encrypted ones, and Helm
	// stores its releases in them.
	workloads = []granted{
		{[]string{""}, []string{"configmaps", "persistentvolumeclaims", "secrets", "services"}},
		{[]string{"apps"}, []string{"daemonsets", "deployments", "statefulsets"}},
		{[]string{"autoscaling"}, []string{"horizontalpodautoscalers"}},
		{[]string{"batch"}, []string{"cronjobs", "jobs"}},
		{[]string{"gateway.networking.k8s.io"}, []string{"grpcroutes", "httproutes"}},
		{[]string{"networking.k8s.io"}, []string{"ingresses"}},
		{[]string{"policy"}, []string{"poddisruptionbudgets"}},
	}
	// identities are the additional permissions of the profile edit: most charts create service accounts and roles of their
	// own. The API server rejects roles with more permissions than their author has.
	identities = []granted{
		{[]string{""}, []string{"serviceaccounts"}},
		{[]string{"rbac.authorization.k8s.io"}, []string{"rolebindings", "roles"}},
	}
	// fluxObjects are granted with every profile. The admission policy restricts their sources and accounts.
	fluxObjects = []granted{
		{[]string{fluxapi.HelmGroup}, []string{"helmreleases"}},
		{[]string{fluxapi.KustomizeGroup}, []string{"kustomizations"}},
		{[]string{fluxapi.SourceGroup}, []string{"buckets", "gitrepositories", "helmrepositories", "ocirepositories"}},
	}
	// watched are the objects that the health checks read, because these also look at the objects that a Deployment creates.
	watched = []v1alpha1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"events", "pods"}, Verbs: readVerbs},
		{APIGroups: []string{"apps"}, Resources: []string{"replicasets"}, Verbs: readVerbs},
	}
	readVerbs  = []string{"get", "list", "watch"}
	applyVerbs = []string{"get", "list", "watch", "create", "patch", "delete"}
	// Helm stores its releases with plain updates.
	helmVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete"}
)

// accounts returns a tenant's service accounts, roles and bindings. The account named default exists in each
// namespace anyway; this one does not mount its token.
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

// grants returns a role in a workload namespace and its binding to an account. The profile admin also binds the
// built-in ClusterRole admin, in the namespace only.
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

// role is an rbacv1.Role with its rules in the usual order of fields.
type role struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []v1alpha1.PolicyRule `json:"rules"`
}

// rules returns the rules of a profile, and the rules that the specification adds.
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
