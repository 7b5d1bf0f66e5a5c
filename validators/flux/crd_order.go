package flux

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// CRDOrder is flux-crd-order.
var CRDOrder = rule.Rule{
	ID:       "flux-crd-order",
	Title:    "a custom resource that is applied before its CRD",
	Severity: finding.Warning,
	Why: `kustomize-controller validates all objects of a Kustomization with a dry run before it applies any, except
definitions, namespaces and classes. If the kind of a custom resource is not defined yet, the dry run fails ("no
matches for kind"), and nothing else is applied either, including the HelmRelease whose chart would define the
kind. On a new cluster, neither is ever applied. On an existing cluster it worked if the custom resource was
added last.

If another Kustomization applies the definition, and no dependsOn orders the two, the custom resource is refused until
the definition exists. If a HelmRelease of another Kustomization installs it, the rule reports that only if three other
Kustomizations wait for the HelmRelease.

The rule knows the definitions of some well-known charts. It reports nothing if Git or another file of the
repository, such as a bootstrap, shows that the definitions come from elsewhere.`,
	Fix: `Move the custom resources to a separate Kustomization that depends on the one with the HelmRelease, and set
wait: true on the latter. If the definitions are in Git, depend on the Kustomization that applies them.`,
	Run: func(p *rule.Pass) {
		var found []early
		each(p, func(w *world) {
			o := w.orders()
			steps := limits.Comparisons
			for _, k := range w.cluster.Kustomizations {
				if k.Spec.KubeConfig == nil && !k.Spec.Suspend {
					found = append(found, w.appliedWithRelease(o, k)...)
					found = append(found, w.appliedBeforeDefinition(o, k, &steps)...)
				}
			}
			found = append(found, w.appliedBeforeRelease(o, &steps)...)
			if steps < 0 {
				w.exceeded(p, "the order of its CRDs", fmt.Sprintf("its Kustomizations depend on each other in more than %d ways", limits.Comparisons))
			}
		})
		names := map[string]bool{}
		for _, e := range found {
			for _, name := range e.names {
				names[name] = true
			}
		}
		spoken := otherfiles.Mentions(p.Repo, names, false)
		var open questions
		for _, e := range found {
			switch {
			case slices.ContainsFunc(e.names, func(name string) bool { return spoken[name] != "" }): // a bootstrap's
			case e.doubt != "":
				open.add(e.object.Position("kind"), fmt.Sprintf("whether the CRD of %s is applied before it", e.object.Kind), e.doubt)
			default:
				p.ReportBuilt(e.object, e.finding, "kind")
			}
		}
		open.report(p)
	},
}

// early is a custom resource that is applied too early.
type early struct {
	object  *reconcile.Object
	finding finding.Finding
	doubt   string
	// names are the names that a bootstrap would mention if it installed the definition.
	names []string
}

// orders holds the objects that define custom resources in a cluster.
type orders struct {
	// crds are the Kustomizations that apply the CustomResourceDefinition of a kind.
	crds map[kind][]*reconcile.Kustomization
	// groups are the API groups with at least one CustomResourceDefinition in Git.
	groups map[string]bool
	// releases are the HelmReleases that define the kinds of an API group.
	releases map[string][]*reconcile.Object
}

func (w *world) orders() orders {
	o := orders{crds: map[kind][]*reconcile.Kustomization{}, groups: map[string]bool{}, releases: map[string][]*reconcile.Object{}}
	for _, object := range w.applied {
		switch {
		case object.HelmRelease != nil: // reported with its release
		case object.Kind == "CustomResourceDefinition" && object.Group == "apiextensions.k8s.io":
			of := kind{text(object.Value, "spec", "group"), text(object.Value, "spec", "names", "kind")}
			o.crds[of] = append(o.crds[of], object.Kustomization)
			o.groups[of.group] = true
		case isHelmRelease(object) && !suspended(object):
			for _, group := range w.defines(object) {
				o.releases[group] = append(o.releases[group], object)
			}
		}
	}
	// Flux's own definitions exist before the first Kustomization does.
	flux := o.crds[kind{fluxapi.KustomizeGroup, kustomizationKind}]
	maps.DeleteFunc(o.crds, func(_ kind, by []*reconcile.Kustomization) bool {
		return slices.ContainsFunc(by, func(k *reconcile.Kustomization) bool { return slices.Contains(flux, k) })
	})
	return o
}

// appliedWithRelease finds custom resources that one Kustomization applies together with the only HelmRelease that
// defines them.
func (w *world) appliedWithRelease(o orders, k *reconcile.Kustomization) []early {
	var found []early
	first := map[*reconcile.Object]*reconcile.Object{}
	more := map[*reconcile.Object]int{}
	var order []*reconcile.Object
	for _, object := range k.Objects {
		by := o.releases[object.Group]
		if o.groups[object.Group] || len(by) == 0 || slices.ContainsFunc(by, func(r *reconcile.Object) bool { return r.Kustomization != k }) {
			continue
		}
		if first[by[0]] == nil {
			first[by[0]] = object
			order = append(order, by[0])
		} else {
			more[by[0]]++
		}
	}
	for _, release := range order {
		object := first[release]
		chart := release.ChartName(w.find)
		e := early{object: object, names: []string{object.Group, chart, release.Name},
			doubt: w.doubt(reconcile.Identity{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: object.Group})}
		e.finding.Message = fmt.Sprintf("%s is applied together with %s, whose chart %s contains its CRD: on a new cluster neither can be applied", object, release, chart)
		if n := more[release]; n > 0 {
			e.finding.Message += fmt.Sprintf(" (and %s of its kinds)", plural(n, "more object"))
		}
		e.finding.Hint = fmt.Sprintf("move it to a Kustomization that depends on %s", k)
		found = append(found, e)
	}
	return found
}

// appliedBeforeDefinition finds custom resources whose Kustomization does not wait for the Kustomization that applies
// their definitions.
func (w *world) appliedBeforeDefinition(o orders, k *reconcile.Kustomization, steps *int) []early {
	var found []early
	reported := map[*reconcile.Kustomization]bool{}
	var before map[reconcile.Identity]bool
	for _, object := range k.Objects {
		by := o.crds[kind{object.Group, object.Kind}]
		if len(by) == 0 || len(o.releases[object.Group]) > 0 || reported[by[0]] || slices.Contains(by, k) {
			continue
		}
		if before == nil {
			before = w.appliedBefore(k, steps)
		}
		if *steps < 0 || slices.ContainsFunc(by, func(one *reconcile.Kustomization) bool { return before[idOf(one)] }) {
			continue
		}
		reported[by[0]] = true
		found = append(found, early{object: object, names: []string{object.Group}, finding: finding.Finding{
			Message: fmt.Sprintf("Kustomization %s applies %s without waiting for %s, which applies its CRD", k, object, by[0]),
			Hint:    fmt.Sprintf("add %s to its dependsOn", by[0])}})
	}
	return found
}
