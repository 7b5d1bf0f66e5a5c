package tenant

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/encryption"
)

// boundaryFile is the file in a tenant's repository with the boundary that the platform sets.
const boundaryFile = ".fleetwright-tenant.yaml"

const boundaryComment = `The namespaces, account, sources and kinds that the platform allows this tenant. fleetwright validate
judges the objects of this repository by them, as the platform's roles and admission policies do.`

// boundaryOf returns the boundary of a tenant: the namespaces, accounts, sources and kinds that the platform allows.
// folders are the folders of the tenant's repository that the platform applies.
func boundaryOf(spec *v1alpha1.Spec, t *v1alpha1.Tenant, folders []string) *v1alpha1.TenantBoundary {
	allowed := allowedOf(spec, t)
	b := &v1alpha1.TenantBoundary{
		TypeMeta: v1alpha1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.TenantBoundaryKind},
		Metadata: v1alpha1.ObjectMeta{Name: t.Metadata.Name, Annotations: map[string]string{"config.kubernetes.io/local-config": "true"}},
		Spec: v1alpha1.TenantBoundarySpec{
			Paths:              emit.Sorted(folders),
			Namespaces:         t.Spec.Namespaces,
			SyncNamespace:      t.Spec.SyncNamespace,
			ServiceAccountName: allowed.Account,
			Sources:            emit.Sorted(append(allowed.URLs, allowed.Prefixes...)),
			Exposure:           &v1alpha1.BoundaryExposure{Hosts: emit.Sorted(t.Spec.Hosts)},
			PodSecurity:        t.Spec.PodSecurity,
			Admission:          &v1alpha1.BoundaryAdmission{Profile: t.Spec.Access.Profile, Repository: allowed.Repository, Branch: allowed.Branch},
		},
	}
	if len(t.Spec.Namespaces) == 1 {
		b.Spec.TargetNamespace = t.Spec.Namespaces[0]
	}
	if t.Spec.Access.Profile != profileAdmin { // the permissions of the built-in role depend on the cluster
		b.Spec.Kinds = boundaryKinds(t.Spec.Access)
	}
	if d := encryption.TenantDecryption(spec, t); d != nil {
		b.Spec.Decryption = &v1alpha1.BoundaryDecryption{Provider: d.Provider}
		if d.SecretRef != nil {
			b.Spec.Decryption.SecretRef = &v1alpha1.SecretRef{Name: d.SecretRef.Name}
		}
	}
	return b
}

// boundaryKinds returns the kinds that an account of the profile may create and change, with their verbs where Flux needs
// more.
func boundaryKinds(access v1alpha1.Access) []v1alpha1.BoundaryKinds {
	var kinds []v1alpha1.BoundaryKinds
	for _, rule := range rules(access, applyVerbs) {
		if !slices.ContainsFunc(rule.Verbs, writes) {
			continue
		}
		k := v1alpha1.BoundaryKinds{APIGroups: rule.APIGroups, Resources: rule.Resources}
		if !slices.Contains(rule.Verbs, "*") && (!slices.Contains(rule.Verbs, "create") || !slices.Contains(rule.Verbs, "patch")) {
			k.Verbs = rule.Verbs
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// writes reports whether a verb creates or changes objects.
func writes(verb string) bool {
	return !slices.Contains(readVerbs, verb) && verb != "delete" && verb != "deletecollection"
}

// sourceURLs returns the URLs that a tenant may use, and the prefixes of other allowed URLs: the tenant's own source, and
// spec.allowedSources. A prefix ends in a slash, so that https://host/org does not match https://host/org-evil.
func sourceURLs(t *v1alpha1.Tenant) (exact, prefixes []string) {
	exact = []string{t.Spec.Source.URL}
	for _, allowed := range t.Spec.AllowedSources {
		exact = append(exact, allowed)
		prefixes = append(prefixes, strings.TrimRight(allowed, "/")+"/")
	}
	return exact, prefixes
}
