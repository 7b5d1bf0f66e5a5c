// Package ownership holds the rules about the owners of objects: objects that several owners apply, and files
// that no owner applies.
package ownership

import (
	"path"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Shared holds the objects that two Kustomizations of a cluster both apply.
type Shared struct {
	// First and Second are the Kustomizations, in the order in which they were found.
	First, Second *reconcile.Kustomization
	// Pairs are objects with the same identity, one of each Kustomization.
	Pairs [][2]*reconcile.Object
	// Overlap reports whether the path of one Kustomization is the same as, or below, that of the other one,
	// and both read the same files in it.
	Overlap bool
}

// Owners holds the objects of a cluster that several Kustomizations or Helm releases apply.
type Owners struct {
	// Shared has an entry for each pair of Kustomizations with common objects. An object with more than two
	// owners is in the pairs of its first owner with each other one.
	Shared []*Shared
	// Duplicates has a list for each object with several owners: the object as each owner applies it. Owners whose path
	// overlaps with the path of the first one are left out.
	Duplicates [][]*reconcile.Object
}

// OfClusters computes the owners of the objects of each cluster.
var OfClusters = &rule.Analysis[map[*reconcile.Cluster]*Owners]{Name: "ownership", RunPass: func(p *rule.Pass) map[*reconcile.Cluster]*Owners {
	all := map[*reconcile.Cluster]*Owners{}
	for _, c := range p.Fleet().Clusters {
		all[c] = ownersIn(c)
	}
	return all
}}

type pair [2]*reconcile.Kustomization

func ownersIn(c *reconcile.Cluster) *Owners {
	applied := map[reconcile.Identity][]*reconcile.Object{}
	var several []reconcile.Identity
	add := func(o *reconcile.Object) {
		if applied[o.Identity] = append(applied[o.Identity], o); len(applied[o.Identity]) == 2 {
			several = append(several, o.Identity)
		}
	}
	for _, k := range c.Kustomizations {
		if k.Spec.KubeConfig != nil || k.Spec.Suspend || isByHand(c, k) {
			continue
		}
		for _, o := range k.Objects {
			if owned(o) && !startsRoot(c, o) {
				add(o)
			}
		}
	}
	for _, o := range releasedIn(c) {
		add(o)
	}
	owners := &Owners{}
	byPair := map[pair]*Shared{}
	for _, id := range several {
		first := applied[id][0]
		for _, o := range applied[id][1:] {
			if o.HelmRelease != nil {
				continue
			}
			of := pair{first.Kustomization, o.Kustomization}
			if byPair[of] == nil {
				byPair[of] = &Shared{First: of[0], Second: of[1]}
				owners.Shared = append(owners.Shared, byPair[of])
			}
			byPair[of].Pairs = append(byPair[of].Pairs, [2]*reconcile.Object{first, o})
		}
	}
	for _, s := range owners.Shared {
		s.Overlap = overlaps(s)
	}
	for _, id := range several {
		first := applied[id][0]
		all := slices.DeleteFunc(applied[id], func(o *reconcile.Object) bool {
			return o != first && o.HelmRelease == nil && byPair[pair{first.Kustomization, o.Kustomization}].Overlap
		})
		if len(all) > 1 {
			owners.Duplicates = append(owners.Duplicates, all)
		}
	}
	return owners
}

// isByHand reports whether a user probably applies the files of a Kustomization individually by hand, and not its whole
// folder. This is so if it is the guessed root of a folder that has no kustomization and that defines the root's own
// source, or that is the whole repository.
func isByHand(c *reconcile.Cluster, k *reconcile.Kustomization) bool {
	if !c.Root.Guessed() || k.Parent != nil || k.Repo == nil {
		return false
	}
	if _, has := k.Repo.KustomizeAt(k.Dir); has {
		return false
	}
	source := c.Root.Source
	return k.Dir == "." || slices.ContainsFunc(k.Repo.Find(fluxapi.SourceGroup, source.Kind, source.Namespace, source.Name), func(o *repository.Object) bool {
		return path.Dir(o.File()) == k.Dir
	})
}

// startsRoot reports whether an object is the source of a guessed root that applies it: somebody has to create it before Flux can
// apply the root.
func startsRoot(c *reconcile.Cluster, o *reconcile.Object) bool {
	source := c.Root.Source
	return c.Root.Guessed() && o.Kustomization.Parent == nil &&
		o.Identity == reconcile.Identity{Group: fluxapi.SourceGroup, Kind: source.Kind, Namespace: source.Namespace, Name: source.Name}
}

// releasedIn returns the objects of the Helm releases of a cluster, each once per release. It omits
// CustomResourceDefinitions in crds folders: helm-controller only creates them if they do not exist, and never
// deletes them.
func releasedIn(c *reconcile.Cluster) []*reconcile.Object {
	var all []*reconcile.Object
	for _, r := range c.Releases {
		if r.Object.Field("spec", "suspend") == true || r.Object.Kustomization.Spec.Suspend {
			continue
		}
		own := map[reconcile.Identity]bool{}
		for _, o := range r.Objects {
			if !own[o.Identity] && owned(o) {
				own[o.Identity] = true
				all = append(all, o)
			}
		}
	}
	return all
}

// owned reports whether Flux applies an object as its owner. It does not own an object that it merges into an
// existing one or creates only if it does not exist. An object with an unknown name does not count either.
func owned(o *reconcile.Object) bool {
	for _, value := range []string{kustomizev1.MergeValue, kustomizev1.IfNotPresentValue, kustomizev1.IgnoreValue} {
		if o.Carries(fluxapi.KustomizeGroup+"/ssa", value) {
			return false
		}
	}
	if o.Carries(fluxapi.KustomizeGroup+"/reconcile", kustomizev1.DisabledValue) {
		return false
	}
	return !slices.Contains([]string{"", "List"}, o.Kind) && !hasVariable(o.Name) && !hasVariable(o.Namespace)
}

func hasVariable(name string) bool {
	for i := range len(name) - 1 {
		if name[i] == '$' && name[i+1] == '{' {
			return true
		}
	}
	return false
}

// overlaps reports whether two Kustomizations share objects because the path of one is within the path of the
// other.
func overlaps(s *Shared) bool {
	if s.First.Repo == nil || s.First.Repo != s.Second.Repo || s.First.Dir != s.Second.Dir && !repository.Within(s.Second.Dir, s.First.Dir) && !repository.Within(s.First.Dir, s.Second.Dir) {
		return false
	}
	for _, pair := range s.Pairs {
		if pair[0].Source != nil && pair[0].Source == pair[1].Source {
			return true
		}
	}
	return false
}

// isRead returns the files that a Kustomization of any cluster reads.
func isRead(fleet *reconcile.Fleet) map[string]bool {
	read := map[string]bool{}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			for _, file := range k.Files {
				read[file] = true
			}
		}
	}
	return read
}

// holdsObjects reports whether a file holds objects for a cluster.
func holdsObjects(f *repository.File) bool {
	return slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return len(d.Objects) > 0 })
}
