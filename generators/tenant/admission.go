package tenant

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/tenantpolicy"
)

const admissionComment = `What the API server refuses in the tenant's namespaces for every user: fields that reach
outside of them, in Flux's objects and in the tenant's own. docs/tenants.md lists each case.`

// admissionObjects returns the tenant's policies and their bindings, which select its namespaces by label. They
// are cluster-scoped, but the names of different tenants do not collide: each name is the tenant's name and one
// of a few suffixes.
func admissionObjects(spec *v1alpha1.Spec, t *v1alpha1.Tenant) []any {
	var objects []any
	for _, p := range tenantpolicy.Of(allowedOf(spec, t)) {
		name := "tenant-" + t.Metadata.Name + "-" + p.Suffix
		objects = append(objects, &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta:   emit.TypeMeta(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicy"),
			ObjectMeta: objectMeta(t, name, ""),
			Spec:       p.Spec,
		}, admissionBinding(t, name))
	}
	return objects
}

// allowedOf returns the boundary of a tenant as input of its admission policies.
func allowedOf(spec *v1alpha1.Spec, t *v1alpha1.Tenant) tenantpolicy.Tenant {
	exact, prefixes := sourceURLs(t)
	allowed := tenantpolicy.Tenant{
		Name:          t.Metadata.Name,
		SyncNamespace: t.Spec.SyncNamespace, SyncAccount: kustomizeAccount(t), Account: helmAccount(t),
		Namespaces: t.Spec.Namespaces, Hosts: t.Spec.Hosts,
		URLs: exact, Prefixes: prefixes,
		Admin:       t.Spec.Access.Profile == profileAdmin,
		Controllers: fluxGroups(spec),
	}
	if spec.OnPlatformRepository(t) {
		allowed.Repository, allowed.Branch = spec.Fleet.Spec.Repository.URL, t.Spec.Source.Branch
	}
	return allowed
}

// fluxGroups returns the groups of the service accounts with which Flux and its operator run.
func fluxGroups(spec *v1alpha1.Spec) []string {
	groups := []string{tenantpolicy.Accounts(emit.FluxNamespace)}
	for _, p := range spec.Products {
		for _, namespace := range p.FluxNamespaces() {
			groups = append(groups, tenantpolicy.Accounts(namespace))
		}
	}
	for _, a := range spec.Addons {
		if a.Metadata.Name == layout.FluxOperator {
			groups = append(groups, tenantpolicy.Accounts(a.Spec.Namespace))
		}
	}
	return groups
}

func admissionBinding(t *v1alpha1.Tenant, name string) *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   emit.TypeMeta(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicyBinding"),
		ObjectMeta: objectMeta(t, name, ""),
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{emit.LabelTenant: t.Metadata.Name}},
			},
		},
	}
}
