package flux

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/source"
)

// ofDefinitions matches URLs and paths that, by their names, hold only CustomResourceDefinitions.
var ofDefinitions = regexp.MustCompile(`(?i)(^|[/._-])(crds?|customresourcedefinitions?)([/._-]|$)`)

// isFlux reports whether an API group belongs to Flux.
func isFlux(group string) bool { return strings.HasSuffix(group, ".toolkit.fluxcd.io") }

// adding returns the gaps because of which objects may be missing, or all gaps if no gap is of this kind.
func adding(gaps []builds.Gap) []builds.Gap {
	if few := slices.DeleteFunc(slices.Clone(gaps), func(g builds.Gap) bool { return !g.AddsObjects() }); len(few) > 0 {
		return few
	}
	return gaps
}

// cannotContain reports whether an object certainly is not in the parts of a Kustomization that were not fetched.
func (w *world) cannotContain(k *reconcile.Kustomization, id reconcile.Identity) bool {
	if k.Failure != nil {
		return false
	}
	for _, g := range k.Gaps {
		if !g.AddsObjects() {
			continue
		}
		ref := g.Ref
		if source := w.find(sourceOf(k)); g.Kind == builds.OtherSource && source != nil {
			ref = text(source.Value, "spec", "url") + "/" + k.Spec.Path
		}
		switch {
		case ofDefinitions.MatchString(ref):
			if id.Kind == "CustomResourceDefinition" {
				return false
			}
		case strings.Contains(ref, "/fluxcd/flux-manifests/"):
			if isOfFlux(id) {
				return false
			}
		case g.Kind == builds.RemoteBase && w.isOthers(ref):
			if !isFlux(id.Group) && !w.isUnknownTo(k, ref, id.Namespace) {
				return false
			}
		default:
			return false
		}
	}
	return len(k.Gaps) > 0
}

// isUnknownTo reports whether a remote base of another owner cannot have objects in a namespace, because its
// owner does not know the namespace. This holds for Flux's namespace, and for one that Git creates, if the
// Kustomization has no object in it and the address does not name it.
func (w *world) isUnknownTo(k *reconcile.Kustomization, address, namespace string) bool {
	ours := namespace == w.cluster.Kustomizations[0].Namespace || w.has(reconcile.Identity{Kind: "Namespace", Name: namespace})
	if namespace == "" || strings.Contains(address, namespace) || !ours {
		return false
	}
	return !slices.ContainsFunc(k.Objects, func(o *reconcile.Object) bool {
		return o.Namespace == namespace || o.Kind == "Namespace" && o.Name == namespace
	})
}

// isOthers reports whether an address belongs to an owner other than the owners of the repository and of the cluster's
// sources. Such a project publishes no objects of Flux's kinds for this cluster.
func (w *world) isOthers(address string) bool {
	owner, known := source.OwnerOf(address)
	return known && len(w.owners) > 0 && !w.owners[owner]
}

// isOfFlux reports whether an object may be part of the installation of Flux.
func isOfFlux(id reconcile.Identity) bool {
	if id.Namespace == "" {
		return id.Kind != "Namespace" || id.Name == "flux-system"
	}
	return !isFlux(id.Group) && (strings.HasSuffix(id.Name, "-controller") || id.Name == "webhook-receiver" || id.Name == "source-watcher")
}

// isAfter reports whether a Kustomization is applied only after the object that has the reference, because it
// depends on that object or is created by it. Then it cannot provide the referenced object. The root is never
// after another one, because it applies its own source.
func (w *world) isAfter(k *reconcile.Kustomization) bool {
	if w.asking == nil || !isKustomization(w.asking) || k.Parent == nil {
		return false
	}
	if w.budget.names <= 0 {
		return false
	}
	return w.appliedBefore(k, &w.budget.names)[w.asking.Identity]
}

// appliedBefore returns the Kustomizations that Flux applies before k, and k itself: all direct and indirect dependencies
// and parents of k. Each dependency costs one of the steps.
func (w *world) appliedBefore(k *reconcile.Kustomization, steps *int) map[reconcile.Identity]bool {
	seen := map[reconcile.Identity]bool{}
	open := []*reconcile.Kustomization{k}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if *steps--; *steps < 0 {
			break
		}
		if at == nil || seen[idOf(at)] {
			continue
		}
		seen[idOf(at)] = true
		open = append(open, at.Parent)
		for _, d := range at.Spec.DependsOn {
			namespace := d.Namespace
			if namespace == "" {
				namespace = at.Namespace
			}
			if dep, ok := w.cluster.Kustomization(namespace, d.Name); ok {
				open = append(open, dep)
			}
		}
	}
	return seen
}

// idOf returns the identity of a Kustomization.
func idOf(k *reconcile.Kustomization) reconcile.Identity {
	return reconcile.Identity{Group: fluxapi.KustomizeGroup, Kind: kustomizationKind, Namespace: k.Namespace, Name: k.Name}
}
