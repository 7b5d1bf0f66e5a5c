package flux

import (
	"github.com/fleetwright/fleetwright/internal/reconcile"

	"github.com/fleetwright/fleetwright/internal/finding"
)

const podSecurityLabel = "pod-security.kubernetes.io/enforce"

// addAllowed adds the objects that a platform provides for the tenant of a repository: its namespaces, and its
// service account in each.
func (w *world) addAllowed() {
	b := w.cluster.Root.Boundary
	if b == nil {
		return
	}
	there := func(kindName, namespace, name string, value map[string]any) {
		id := reconcile.Identity{Kind: kindName, Namespace: namespace, Name: name}
		w.objects[id] = append(w.objects[id], &reconcile.Object{Identity: id, APIVersion: "v1", Value: value, Place: finding.Place{File: b.Object.File(), Line: w.cluster.Root.Line}})
	}
	for _, namespace := range b.Spec.Namespaces {
		there("Namespace", "", namespace, map[string]any{"metadata": map[string]any{"labels": map[string]any{podSecurityLabel: string(b.Spec.PodSecurity)}}})
		there("ServiceAccount", namespace, b.Spec.ServiceAccountName, nil)
	}
}
