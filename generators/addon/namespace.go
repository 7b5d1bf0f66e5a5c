package addon

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// namespaces writes the namespaces of a cluster's add-ons, and a service account in each namespace whose
// HelmReleases need one.
func (g *generator) namespaces(c *v1alpha1.Cluster, addons []*v1alpha1.Addon) {
	levels := map[string]v1alpha1.PodSecurity{}
	accounts := map[string]string{}
	for _, a := range addons {
		levels[a.Spec.Namespace] = cmp.Or(levels[a.Spec.Namespace], a.Spec.PodSecurity)
		home := g.lay.Home(a)
		if home.Bound && a.Spec.Chart != nil && *g.spec.Fleet.Spec.MultiTenancy.Lockdown {
			accounts[home.Namespace] = home.ServiceAccount
		}
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		place := g.lay.Namespace(c, name)
		if !g.ownedByFlux(name) {
			g.object(place, Namespace(name, levels[name]))
		}
		if account := accounts[name]; account != "" {
			for _, object := range installer(name, account) {
				g.object(place, object)
			}
		}
	}
}

// ownedByFlux reports whether Flux's own manifests contain a namespace.
func (g *generator) ownedByFlux(name string) bool {
	return name == layout.FluxNamespace && g.spec.Fleet.Spec.Flux.Install == v1alpha1.InstallBootstrap
}

// Namespaces returns the namespaces that are created with the add-ons of a cluster and with tenants.
func Namespaces(spec *v1alpha1.Spec, c *v1alpha1.Cluster) map[string]bool {
	created := map[string]bool{}
	for _, t := range spec.Tenants {
		for _, name := range t.Spec.Namespaces {
			created[name] = true
		}
		created[t.Spec.SyncNamespace] = true
	}
	for _, a := range On(spec, c) {
		created[a.Spec.Namespace] = true
	}
	return created
}

// Namespace returns a namespace of the platform. Flux never deletes it, because that would delete
// everything in it.
func Namespace(name string, level v1alpha1.PodSecurity) *corev1.Namespace {
	ns := &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{emit.AnnotationPrune: emit.Disabled},
		},
	}
	if level != "" {
		ns.Labels = map[string]string{"pod-security.kubernetes.io/enforce": string(level)}
	}
	return ns
}

// installer returns the service account that helm-controller impersonates for the add-ons of a namespace, with
// its permissions. Under lockdown, helm-controller would otherwise use the default account, which has none.
// Charts of the platform install cluster-scoped objects, so the account is cluster-admin.
func installer(namespace, account string) []any {
	return []any{
		&corev1.ServiceAccount{
			TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta:                   metav1.ObjectMeta{Name: account, Namespace: namespace},
			AutomountServiceAccountToken: new(false),
		},
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: account + "-" + namespace},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: namespace}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		},
	}
}

// variables returns the ConfigMap with a cluster's variables.
func variables(c *v1alpha1.Cluster) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: emit.ClusterVars, Namespace: layout.FluxNamespace,
			// Flux 2.7 and later applies a change immediately, and not at the next interval.
			Labels: map[string]string{"reconcile.fluxcd.io/watch": "Enabled"},
		},
		Data: c.Spec.Variables,
	}
}
