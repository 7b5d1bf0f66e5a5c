package roots

import (
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// addScripted sets the further Kustomizations of the roots: those that a script applies. Without a root whose source no other
// root has, the cluster of such a Kustomization is unknown.
func addScripted(repo *repository.Repository, roots []Root) {
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
	all := rootsOf(Candidates(repo))
	count := map[[2]string]int{}
	for _, r := range all {
		count[[2]string{r.Namespace, r.Name}]++
	}
	found, files := map[string][]Root{}, map[string]bool{} // by file
	for _, r := range topmost(repo, all) {
		isSynced := slices.ContainsFunc(append(above(r.Path), r.Path), func(dir string) bool { return synced[dir] })
		isPart := listed[r.Path] || r.isTemplate() || isPutAway(r.File) || repository.IsExample(r.File)
		isOwn := r.Path != "." && r.Namespace != "" && repository.Within(r.Path, r.File) && Has(repo, r.Path) && count[[2]string{r.Namespace, r.Name}] == 1
		if len(of[r.Source]) == 1 && isOwn && !isPart && !isSynced {
			found[r.File], files[r.File] = append(found[r.File], r), true
		}
	}
	for _, file := range slices.Sorted(maps.Keys(otherfiles.Applied(repo, files))) {
		for _, r := range found[file] {
			i := of[r.Source][0]
			roots[i].Scripted = append(roots[i].Scripted, r)
		}
	}
}
