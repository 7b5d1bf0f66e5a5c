package roots

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/cycle"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// topmost returns the Kustomizations that no other one of them applies, according to the folders
// of their files and the entries of the kustomizations there. If Kustomizations apply each
// other in a cycle, all of them are returned. But if those have different sources, only Kustomizations of
// the source with the strongest claim count as applying others: the other sources are other repositories, or
// misspelt.
func topmost(repo *repository.Repository, all []Root) []Root {
	g := &appliers{all: all, below: map[string][]vertex{}, claims: tallyOf(repo, all)}
	nodes := make([]vertex, len(all))
	for i, r := range all {
		nodes[i] = vertex{at: i}
		g.below[r.Path] = nil
	}
	refs := outward(repo)
	for _, ref := range refs {
		g.below[ref.to] = nil
	}
	for _, at := range slices.Sorted(maps.Keys(g.below)) {
		if at != "." {
			g.add(path.Dir(at), vertex{folder: at})
		}
	}
	for i, r := range all {
		g.add(r.File, nodes[i])
	}
	for _, ref := range refs {
		g.add(ref.from, vertex{folder: ref.to})
	}
	var out []Root
	for _, v := range g.tops(nodes, nil) {
		out = append(out, all[v.at])
	}
	return out
}

// listing is a reference of a kustomization to a path outside of its folder.
type listing struct{ from, to string }

// outward returns the references of the kustomizations to paths outside of their folders.
func outward(repo *repository.Repository) []listing {
	var all []listing
	for _, k := range repo.Kustomizes() {
		if k.Spec == nil {
			continue
		}
		//nolint:staticcheck // older repositories use bases
		for _, ref := range slices.Concat(k.Spec.Resources, k.Spec.Bases, k.Spec.Components) {
			if at, inside := repository.Join(k.Dir, ref); inside && !repository.Within(k.Dir, at) {
				all = append(all, listing{k.Dir, at})
			}
		}
	}
	return all
}

// vertex is a Kustomization, by its index, or else an applied file or folder, which leads
// to all vertices below it.
type vertex struct {
	folder string
	at     int
}

// appliers is the graph of the Kustomizations that apply each other.
type appliers struct {
	all []Root
	// below maps applied files and folders to the vertices that they lead to.
	below  map[string][]vertex
	claims tally
}

// add adds an edge to a vertex from the innermost applied folder around a path.
func (g *appliers) add(at string, v vertex) {
	for _, dir := range append([]string{at}, above(at)...) {
		if below, applied := g.below[dir]; applied {
			g.below[dir] = append(below, v)
			return
		}
	}
}

// tops returns the Kustomizations that no other one applies, sorted by index; those that apply each other in a cycle are
// included. If only is set, Kustomizations of other sources are treated as if they applied nothing.
func (g *appliers) tops(nodes []vertex, only *Source) []vertex {
	inside := map[vertex]bool{}
	for _, v := range nodes {
		inside[v] = true
	}
	edges := func(v vertex) []vertex {
		if v.folder != "" {
			return slices.DeleteFunc(slices.Clone(g.below[v.folder]), func(child vertex) bool { return child.folder == "" && !inside[child] })
		}
		if r := g.all[v.at]; only == nil || r.Source == *only {
			return []vertex{{folder: r.Path}}
		}
		return nil
	}
	parts := cycle.Parts(nodes, edges)
	part := map[vertex]int{}
	for i, members := range parts {
		for _, v := range members {
			part[v] = i
		}
	}
	applied := map[int]bool{}
	for v, i := range part {
		for _, to := range edges(v) {
			applied[part[to]] = applied[part[to]] || part[to] != i
		}
	}
	var first []vertex
	for i, members := range parts {
		if applied[i] {
			continue
		}
		members = slices.DeleteFunc(members, func(v vertex) bool { return v.folder != "" })
		if source, several := g.strongest(members); several && only == nil {
			members = g.tops(members, &source)
		}
		first = append(first, members...)
	}
	sorting.Func(first, func(a, b vertex) int { return cmp.Compare(a.at, b.at) })
	return first
}

// strongest returns the source with the strongest claim among the Kustomizations, and whether
// another source has a weaker claim.
func (g *appliers) strongest(members []vertex) (source Source, several bool) {
	compare := func(a, b vertex) int {
		x, y := g.claims[g.all[a.at].Source], g.claims[g.all[b.at].Source]
		return cmp.Or(cmp.Compare(x.found, y.found), cmp.Compare(x.named, y.named))
	}
	if len(members) == 0 {
		return source, false
	}
	most := slices.MaxFunc(members, compare)
	return g.all[most.at].Source, slices.ContainsFunc(members, func(v vertex) bool { return compare(v, most) < 0 })
}
