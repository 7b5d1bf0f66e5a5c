package platform

import (
	"iter"
	"slices"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Change is an object that is applied to a cluster both at the base revision of a run and now.
type Change struct{ Was, Is *reconcile.Object }

// Changes returns the objects of some API groups that exist both at the base revision and now, whether or not
// they differ. Without a base revision there are none.
func Changes(p *rule.Pass, groups ...string) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		if p.Before() == nil {
			return
		}
		old := map[place]*reconcile.Object{}
		for _, o := range p.AppliedBefore() {
			if slices.Contains(groups, o.Group) {
				old[placeOf(o)] = o
			}
		}
		for _, o := range p.Applied() {
			if was := old[placeOf(o)]; was != nil && !yield(Change{was, o}) {
				return
			}
		}
	}
}

// place identifies an object in a cluster.
type place struct {
	cluster string
	reconcile.Identity
}

func placeOf(o *reconcile.Object) place {
	if o.Kustomization == nil {
		return place{"", o.Identity}
	}
	return place{o.Kustomization.Cluster.Name, o.Identity}
}
