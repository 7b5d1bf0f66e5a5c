package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Unknown is why some objects of clusters, or a part of an object, are unknown.
type Unknown struct {
	// What is the object, as messages name it.
	What string
	finding.Place
	Reason string
	// Failed reports whether Flux fails there.
	Failed bool
	// Clusters for which it is unknown.
	Clusters []string
}

// Unknowns returns the parts of a cluster that cannot be built or rendered, or are not available.
func (c *Cluster) Unknowns() []Unknown {
	var all []Unknown
	for _, k := range c.Kustomizations {
		if f := k.Failure; f != nil {
			all = append(all, Unknown{What: "Kustomization " + k.String(), Place: f.Place, Reason: f.Message, Failed: true})
		}
		for _, g := range k.Gaps {
			if !slices.Contains([]builds.GapKind{builds.Limit, builds.Exceeded, builds.Unreadable}, g.Kind) { // an error of its own
				all = append(all, Unknown{What: "Kustomization " + k.String(), Place: g.Place, Reason: g.Message})
			}
		}
	}
	for _, set := range c.OpenSets {
		o := set.Object
		all = append(all, Unknown{What: o.String(), Place: o.Place, Reason: set.Because})
	}
	for _, r := range c.Releases {
		o := r.Object
		one := Unknown{What: o.String(), Place: o.Place}
		cause := r.Cause()
		switch {
		case cause != nil && r.Limit == nil:
			one.File, one.Line, one.Column, one.Reason, one.Failed = cause.File, cause.Line, cause.Column, cause.Message, cause.Failed
		case cause == nil && o.Field("spec", "kubeConfig") != nil:
			one.Reason = "it is installed on another cluster (spec.kubeConfig)"
		default:
			continue
		}
		all = append(all, one)
	}
	return all
}

// MergeUnknowns merges the unknown parts of several clusters, with each reason once per position, in the order of the
// positions.
func MergeUnknowns(of map[string][]Unknown) []Unknown {
	var all []Unknown
	at := map[string]int{}
	for _, cluster := range slices.Sorted(maps.Keys(of)) {
		for _, u := range of[cluster] {
			key := fmt.Sprintf("%s\x00%s\x00%d\x00%d\x00%s\x00%t", u.What, u.File, u.Line, u.Column, u.Reason, u.Failed)
			i, known := at[key]
			if !known {
				i, at[key] = len(all), len(all)
				all = append(all, u)
			}
			if !slices.Contains(all[i].Clusters, cluster) {
				all[i].Clusters = append(all[i].Clusters, cluster)
			}
		}
	}
	sorting.StableFunc(all, func(a, b Unknown) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.What, b.What), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}
