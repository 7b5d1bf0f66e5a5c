package tenant

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

// The profiles in spec.access.profile.
const (
	profileEdit  = "edit"
	profileAdmin = "admin"
)

// The service accounts of a tenant. kustomize-controller uses the first, which is in the sync namespace.
// helm-controller uses the second, which is in each workload namespace.
func kustomizeAccount(t *v1alpha1.Tenant) string { return t.Metadata.Name }
func helmAccount(t *v1alpha1.Tenant) string      { return t.Metadata.Name + "-helm" }

// The starter in a tenant's repository: podinfo, as plain objects or as a release of its chart
// (https://github.com/stefanprodan/podinfo/tree/master/charts/podinfo).
const (
	starterName     = "podinfo"
	starterImage    = "ghcr.io/stefanprodan/podinfo"
	starterVersion  = "6.14.0"
	starterPort     = 9898
	starterMessage  = "PODINFO_UI_MESSAGE"
	starterGreeting = "Hello from Flux"
)

// hasTarget reports whether the tenant's repository, or its branch of the platform repository, is generated. It is not
// generated for a source with artifacts, which are built elsewhere, and not for a tenant that leaves, which keeps its
// repository.
func hasTarget(t *v1alpha1.Tenant) bool {
	return t.Spec.Source.Kind == v1alpha1.SourceGit && t.Spec.State == v1alpha1.StateActive
}

// objectMeta returns the metadata of an object of a tenant. Cluster-scoped objects have no namespace.
func objectMeta(t *v1alpha1.Tenant, name, namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: namespace,
		Labels: map[string]string{emit.LabelTenant: t.Metadata.Name},
	}
}

// patchMeta names the object that a patch applies to.
type patchMeta struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// patchFile returns the name of a tenant's patch in the folder of a cluster.
func patchFile(t *v1alpha1.Tenant) string { return t.Metadata.Name + "-patch.yaml" }

// hasStarter reports whether a tenant's repository is generated with a starter.
func hasStarter(t *v1alpha1.Tenant) bool {
	return hasTarget(t) && t.Spec.Starter != v1alpha1.StarterNone
}
