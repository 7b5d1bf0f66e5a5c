package flux

import (
	"github.com/fleetwright/fleetwright/internal/reconcile"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// addAllowed adds the objects that a platform provides for the tenant of a repository: its namespaces, and its
// service account in each.
func (w *world) addAllowed() {
	b := w.cluster.Root.Boundary
	if b == nil {
		return
	}
	there := func(kindName, namespace, name string) {
		id := reconcile.Identity{Kind: kindName, Namespace: namespace, Name: name}
		w.objects[id] = append(w.objects[id], &reconcile.Object{Identity: id, APIVersion: "v1", Place: finding.Place{File: b.Object.File(), Line: w.cluster.Root.Line}})
	}
	for _, namespace := range b.Spec.Namespaces {
		there("Namespace", "", namespace)
		there("ServiceAccount", namespace, b.Spec.ServiceAccountName)
	}
}
