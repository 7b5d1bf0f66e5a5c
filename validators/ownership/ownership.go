// Package ownership holds the rules about who applies what: objects with several owners, and
// files with none.
package ownership

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Shared is what two Kustomizations of a cluster both apply.
type Shared struct {
	// First and Second, in the order in which they are found.
	First, Second *reconcile.Kustomization
	// Pairs of objects of the same identity, the first's and the second's.
	Pairs [][2]*reconcile.Object
	// Overlap says that one's path is in the other's, or the same, and both read the same
	// files in it.
	Overlap bool
}

// Owners tells which objects of a cluster several Kustomizations, or Helm releases, apply.
type Owners struct {
	// Shared by two Kustomizations. Of an object that many apply it tells each but the
	// first together with the first.
	Shared []*Shared
	// Duplicates are the objects of one identity, each of another Kustomization or Helm
	// release, without those that overlap with the first.
	Duplicates [][]*reconcile.Object
}

// OfClusters are the owners of the objects of each cluster.
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
		if k.Spec.KubeConfig != nil || k.Spec.Suspend {
			continue
		}
		for _, o := range k.Objects {
			if owned(o) {
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

// releasedIn are the objects of the Helm releases of a cluster, each once for a release.
// CustomResourceDefinitions of crds folders are none: helm-controller makes them where there
// are none, and never deletes them.
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

// owned says whether Flux applies an object as its own: not one that it merges into, or makes
// only where there is none, and not one whose name isn't known.
func owned(o *reconcile.Object) bool {
	metadata, _ := o.Value["metadata"].(map[string]any)
	for _, part := range []string{"annotations", "labels"} {
		values, _ := metadata[part].(map[string]any)
		if values["kustomize.toolkit.fluxcd.io/ssa"] == "Merge" || values["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent" ||
			values["kustomize.toolkit.fluxcd.io/ssa"] == "Ignore" || values["kustomize.toolkit.fluxcd.io/reconcile"] == "disabled" {
			return false
		}
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

// overlaps says whether the objects are the same since the paths are within one another.
func overlaps(s *Shared) bool {
	if s.First.Repo == nil || s.First.Repo != s.Second.Repo || !within(s.First.Dir, s.Second.Dir) && !within(s.Second.Dir, s.First.Dir) {
		return false
	}
	for _, pair := range s.Pairs {
		if pair[0].Source != nil && pair[0].Source == pair[1].Source {
			return true
		}
	}
	return false
}

// within says whether a folder is another one, or in it.
func within(dir, parent string) bool {
	return parent == "." || dir == parent || len(dir) > len(parent) && dir[:len(parent)] == parent && dir[len(parent)] == '/'
}

// isRead are the files that any Kustomization of any cluster reads.
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

// holdsObjects says whether a file holds objects for a cluster.
func holdsObjects(f *repository.File) bool {
	return slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return len(d.Objects) > 0 })
}
