// Package tenant generates the objects of tenants in the platform repository: namespaces, accounts, roles,
// limits and sync. It also generates the initial content of a tenant's own repository or branch.
//
// The tenant's source, Kustomization and keys are in a sync namespace, where its accounts have no permissions.
// Its workloads run in other namespaces, with two accounts that have limited roles, and with a quota, network
// policies and admission policies. A tenant can read every Secret in its workload namespaces. This cannot be
// prevented, because Helm stores releases in Secrets and pods mount them.
package tenant

import (
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

// Platform writes everything about the tenants in the platform repository: a base for each tenant, and an
// overlay for each cluster that has tenants. secrets are the declared Secrets with existing files.
func Platform(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed) {
	own := map[string][]string{}
	for _, s := range secrets {
		if s.Secret.Scope == v1alpha1.ScopeTenant && !s.Retired {
			own[s.Secret.Tenant] = append(own[s.Secret.Tenant], s.File)
		}
	}
	for _, files := range eachTenant(spec.Tenants, func(t *v1alpha1.Tenant) *emit.Files {
		files := emit.New()
		base(files, spec, lay, t, own[t.Metadata.Name])
		patches(files, spec, lay, t)
		return files
	}) {
		out.Merge(files)
	}
	overlays(out, spec, lay)
}

// base writes the objects of a tenant that all its clusters share, and lists the files of its Secrets.
func base(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, t *v1alpha1.Tenant, secrets []string) {
	dir := lay.TenantBase(t.Metadata.Name)
	var k emit.Kustomization
	write := func(name, comment string, objects []any) {
		out.Objects(dir+"/"+name, comment, objects...)
		k.Resources = append(k.Resources, name)
	}
	write("namespaces.yaml", namespacesComment(t), namespaces(t))
	if t.Spec.State != v1alpha1.StateRemoved {
		bounds, err := bounds(t)
		out.Fail(err)
		write("rbac.yaml", rbacComment, accounts(t))
		write("limits.yaml", "", bounds)
		write("network-policy.yaml", networkComment, networkPolicies(t))
		write("admission-policy.yaml", admissionComment, admissionObjects(spec, t))
	}
	if t.Spec.State == v1alpha1.StateActive {
		write("sync.yaml", syncComment, []any{source(spec, t), kustomization(spec, t)})
	}
	for _, file := range secrets {
		k.Resources = append(k.Resources, emit.Relative(dir, file))
	}
	out.Kustomization(dir, k)
}

// overlays writes the folder of each cluster's tenants.
func overlays(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout) {
	on := map[string]*emit.Kustomization{}
	for _, t := range spec.Tenants {
		name := t.Metadata.Name
		for _, c := range spec.TenantClusters(t) {
			dir := lay.TenantOverlay(c.Cluster)
			if on[c.Cluster] == nil {
				on[c.Cluster] = &emit.Kustomization{}
			}
			k := on[c.Cluster]
			k.Resources = append(k.Resources, emit.Relative(dir, lay.TenantBase(name)))
			if t.Spec.State == v1alpha1.StateActive {
				k.Patches = append(k.Patches, kustypes.Patch{Path: patchFile(t)})
			}
		}
	}
	for _, c := range spec.Clusters {
		if k := on[c.Metadata.Name]; k != nil {
			out.Kustomization(lay.TenantOverlay(c.Metadata.Name), *k)
		}
	}
}
