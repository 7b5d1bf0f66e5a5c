package roots

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// besides sets the further Kustomizations of the roots. Without a root whose source is theirs alone, nobody knows which
// cluster they are for.
func besides(repo *repository.Repository, roots []Root) {
	of, synced, listed := map[Source][]int{}, map[string]bool{}, map[string]bool{}
	for i, root := range roots {
		of[root.Source] = append(of[root.Source], i)
		synced[root.Path] = true
	}
	for _, l := range outward(repo) {
		for _, dir := range append(above(l.to), l.to) {
			listed[dir] = true
		}
	}
	for _, r := range topmost(repo, rootsOf(Candidates(repo))) {
		isSynced := slices.ContainsFunc(append(above(r.Path), r.Path), func(dir string) bool { return synced[dir] })
		isPart := listed[r.Path] || r.isTemplate() || isPutAway(r.File) || repository.IsExample(r.File)
		isOwn := r.Path != "." && r.Namespace != "" && repository.Within(r.Path, r.File) && Has(repo, r.Path)
		if is := of[r.Source]; len(is) == 1 && isOwn && !isPart && !isSynced {
			roots[is[0]].Beside = append(roots[is[0]].Beside, r)
		}
	}
}
