package flux

import (
	"cmp"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// dependency is an entry of a spec.dependsOn.
type dependency struct {
	// of is the object that depends, a Kustomization or a HelmRelease.
	of    *reconcile.Object
	index int
	// on is the identity that the entry names, of the same kind as the object.
	on reconcile.Identity
	// expression is the readyExpr, which takes the place of the readiness.
	expression bool
}

// path of the dependency's name in its object.
func (d dependency) path() []any { return []any{"spec", "dependsOn", d.index, "name"} }

// other is the identity with the same name of the other kind.
func (d dependency) other() reconcile.Identity {
	id := d.on
	if id.Kind == kustomizationKind {
		id.Group, id.Kind = fluxapi.HelmGroup, helmReleaseKind
	} else {
		id.Group, id.Kind = fluxapi.KustomizeGroup, kustomizationKind
	}
	return id
}

// depending are the objects that may depend on others: each once, and none that is suspended.
func (w *world) depending() []*reconcile.Object {
	var objects []*reconcile.Object
	seen := map[reconcile.Identity]bool{}
	for _, o := range w.applied {
		if (isKustomization(o) || isHelmRelease(o)) && !seen[o.Identity] {
			if seen[o.Identity] = true; !suspended(o) {
				objects = append(objects, o)
			}
		}
	}
	root := w.cluster.Kustomizations[0].Object
	if root != nil && !seen[root.Identity] && !suspended(root) {
		objects = append(objects, root)
	}
	return objects
}

// dependencies of an object.
func dependencies(o *reconcile.Object) []dependency {
	var all []dependency
	for i, entry := range list(o.Value, "spec", "dependsOn") {
		d := dependency{of: o, index: i, on: o.Identity, expression: text(entry, "readyExpr") != ""}
		d.on.Name, d.on.Namespace = text(entry, "name"), cmp.Or(text(entry, "namespace"), o.Namespace)
		if d.on.Name != "" {
			all = append(all, d)
		}
	}
	return all
}

// isThere says whether what a dependency names is applied. The root itself may be applied by
// what syncs it.
func (w *world) isThere(id reconcile.Identity) bool {
	if w.has(id) {
		return true
	}
	root := w.cluster.Kustomizations[0]
	return id.Kind == kustomizationKind && id.Namespace == root.Namespace && id.Name == root.Name
}

// otherKind is the object of the other kind that a dependency on nothing was meant to be on:
// in the namespace that it names, or anywhere where it names none.
func (w *world) otherKind(d dependency) (reconcile.Identity, bool) {
	id := d.other()
	if w.isThere(id) {
		return id, true
	}
	entry, _ := list(d.of.Value, "spec", "dependsOn")[d.index].(map[string]any)
	if text(entry, "namespace") != "" || w.near(d.on) {
		return id, false
	}
	if found := w.inNamespaces(kind{id.Group, id.Kind}, id.Name); len(found) == 1 && len(w.inNamespaces(kind{d.on.Group, d.on.Kind}, id.Name)) == 0 {
		id.Namespace = found[0]
		return id, true
	}
	return id, false
}
