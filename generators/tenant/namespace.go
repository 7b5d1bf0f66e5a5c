package tenant

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

// podSecurityModes are the modes of a pod security level: reject, record and warn the user
// (https://kubernetes.io/docs/concepts/security/pod-security-admission/).
var podSecurityModes = []string{"enforce", "audit", "warn"}

func namespacesComment(t *v1alpha1.Tenant) string {
	switch t.Spec.State {
	case v1alpha1.StateRemoved:
		return "Tenant " + t.Metadata.Name + " is removed: Flux deletes its namespaces when it is removed from the specification."
	case v1alpha1.StateDraining:
		return "Tenant " + t.Metadata.Name + " is draining: Flux has stopped syncing and removes the workloads."
	}
	return "Tenant " + t.Metadata.Name + ": Flux never deletes these namespaces while the tenant is in the specification."
}

// namespaces returns the tenant's sync namespace and its workload namespaces. They may be pruned only after the
// tenant is removed, because deleting a namespace deletes everything in it.
func namespaces(t *v1alpha1.Tenant) []any {
	// Nothing runs in the sync namespace, so it gets the strictest level.
	objects := make([]any, 0, 1+len(t.Spec.Namespaces))
	objects = append(objects, namespace(t, t.Spec.SyncNamespace, v1alpha1.PodSecurityRestricted))
	for _, name := range t.Spec.Namespaces {
		objects = append(objects, namespace(t, name, t.Spec.PodSecurity))
	}
	return objects
}

func namespace(t *v1alpha1.Tenant, name string, level v1alpha1.PodSecurity) *corev1.Namespace {
	ns := &corev1.Namespace{
		TypeMeta:   emit.TypeMeta(corev1.SchemeGroupVersion, "Namespace"),
		ObjectMeta: objectMeta(t, name, ""),
	}
	for _, mode := range podSecurityModes {
		ns.Labels["pod-security.kubernetes.io/"+mode] = string(level)
	}
	if t.Spec.State != v1alpha1.StateRemoved {
		ns.Annotations = map[string]string{emit.AnnotationPrune: emit.Disabled}
	}
	return ns
}
