package platform

import (
	"iter"
	"slices"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Change is an object as it was applied to a cluster at the revision that a run compares
// with, and as it is.
type Change struct{ Was, Is *reconcile.Object }

// Changes are the objects of some groups that were there and still are, whether they
// differ or not; there are none where a run compares with no revision.
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

// place is where an object is applied.
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
