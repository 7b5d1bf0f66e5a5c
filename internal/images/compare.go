package images

import (
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Change is the difference between the images of a cluster in two states.
type Change struct {
	Cluster string
	// Added and Removed are sorted by name, each with the objects that use it.
	Added, Removed []Image
	// Unresolved are the unknowns of the second state, and those of the first state only.
	Unresolved []reconcile.Unknown
}

// Compare returns the changes from a first to a second state of the clusters, sorted by name. It ignores the images of
// objects that are known in one state only, and does not report images of objects that Flux leaves on the cluster as removed.
func Compare(from, to *reconcile.Fleet) []Change {
	states := map[string][2]*reconcile.Cluster{}
	for _, c := range from.Clusters {
		states[c.Name] = [2]*reconcile.Cluster{c, nil}
	}
	for _, c := range to.Clusters {
		states[c.Name] = [2]*reconcile.Cluster{states[c.Name][0], c}
	}
	kept := map[string][]Use{}
	for _, d := range reconcile.Compare(from, to) {
		for _, o := range d.Kept {
			uses, _ := In(o.Object)
			kept[d.Name] = append(kept[d.Name], uses...)
		}
	}
	var all []Change
	for _, name := range slices.Sorted(maps.Keys(states)) {
		all = append(all, compare(name, states[name][0], states[name][1], kept[name]))
	}
	return all
}

func compare(name string, from, to *reconcile.Cluster, kept []Use) Change {
	known := reconcile.KnownInBoth(from, to)
	before, open := list(from, known)
	after, openAfter := list(to, known)
	c := Change{Cluster: name, Unresolved: openAfter}
	for _, u := range open {
		if !slices.ContainsFunc(openAfter, func(later reconcile.Unknown) bool { return later.What == u.What }) {
			u.Reason = "before the change: " + u.Reason
			c.Unresolved = append(c.Unresolved, u)
		}
	}
	was, is := namesOf(before), namesOf(after)
	for _, use := range kept {
		is[use.Image] = true
	}
	c.Added = slices.DeleteFunc(after, func(i Image) bool { return was[i.Name] })
	c.Removed = slices.DeleteFunc(before, func(i Image) bool { return is[i.Name] })
	return c
}

func namesOf(all []Image) map[string]bool {
	names := map[string]bool{}
	for _, i := range all {
		names[i.Name] = true
	}
	return names
}
