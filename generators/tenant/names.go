package tenant

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

// Profiles of spec.access.profile.
const (
	profileEdit  = "edit"
	profileAdmin = "admin"
)

// The accounts of a tenant: kustomize-controller acts as the first, which stands
// in the sync namespace, helm-controller as the second, in each workload
// namespace.
func kustomizeAccount(t *v1alpha1.Tenant) string { return t.Metadata.Name }
func helmAccount(t *v1alpha1.Tenant) string      { return t.Metadata.Name + "-helm" }

// The starter that a tenant's repository begins with. The tenant's admission
// policy allows its chart, exactly this URL, beside the tenant's own sources: a
// repository must deploy as it is generated, and no chart of spec.allowedSources
// is known to be there. Its values are podinfo's
// (https://github.com/stefanprodan/podinfo/tree/master/charts/podinfo).
const (
	starterName    = "podinfo"
	starterChart   = "oci://ghcr.io/stefanprodan/charts/podinfo"
	starterVersion = "6.14.0"
)

// hasTarget says that a tenant's repository, or its branch of the platform's,
// is generated: artifacts are built elsewhere, and a leaving tenant's repository
// is left to it.
func hasTarget(t *v1alpha1.Tenant) bool {
	return t.Spec.Source.Kind == v1alpha1.SourceGit && t.Spec.State == v1alpha1.StateActive
}

// objectMeta names an object of a tenant. Cluster-wide objects have no namespace.
func objectMeta(t *v1alpha1.Tenant, name, namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: namespace,
		Labels: map[string]string{emit.LabelTenant: t.Metadata.Name},
	}
}

// patchMeta names the object that a patch is for.
type patchMeta struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// patchFile is the patch of a tenant in the folder of a cluster.
func patchFile(t *v1alpha1.Tenant) string { return t.Metadata.Name + "-patch.yaml" }
