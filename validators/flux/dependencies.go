package flux

import (
	"cmp"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// dependency is an entry of a spec.dependsOn.
type dependency struct {
	// of is the Kustomization or HelmRelease that has the dependency.
	of    *reconcile.Object
	index int
	// on is the identity of the dependency. It has the kind of the dependent object.
	on reconcile.Identity
	// expression reports whether the entry has a readyExpr, which replaces the readiness check.
	expression bool
}

// path returns the path of the dependency's name in its object.
func (d dependency) path() []any { return []any{"spec", "dependsOn", d.index, "name"} }

// other returns the identity with the same name and the other kind: HelmRelease for Kustomization, and vice
// versa.
func (d dependency) other() reconcile.Identity {
	id := d.on
	if id.Kind == kustomizationKind {
		id.Group, id.Kind = fluxapi.HelmGroup, helmReleaseKind
	} else {
		id.Group, id.Kind = fluxapi.KustomizeGroup, kustomizationKind
	}
	return id
}

// depending returns the Kustomizations and HelmReleases that are not suspended, each once.
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

// dependencies returns the dependencies of an object.
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

// isThere reports whether the object is applied in the cluster. A dependency on the cluster's root always
// counts as present.
func (w *world) isThere(id reconcile.Identity) bool {
	if w.has(id) {
		return true
	}
	root := w.cluster.Kustomizations[0]
	return id.Kind == kustomizationKind && id.Namespace == root.Namespace && id.Name == root.Name
}

// otherKind returns the object of the other kind that a dependency was probably meant to name: one in the namespace of
// the dependency, or in any namespace if it has none.
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
