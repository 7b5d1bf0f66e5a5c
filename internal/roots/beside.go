package roots

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// besides sets the further Kustomizations of the roots. Without a root whose source is theirs alone, nobody knows which
// cluster they are for.
func besides(repo *repository.Repository, roots []Root) {
	all, lists := rootsOf(Candidates(repo)), outward(repo)
	for _, r := range topmost(repo, all) {
		isListed := slices.ContainsFunc(lists, func(l listing) bool { return l.to == r.Path || repository.Within(r.Path, l.to) })
		if r.Path == "." || r.Namespace == "" || isListed || r.isTemplate() || isPutAway(r.File) || repository.IsExample(r.File) || !repository.Within(r.Path, r.File) || !Has(repo, r.Path) {
			continue
		}
		of := func(root Root) bool { return root.Source == r.Source && root.Source.Name != "" }
		i := slices.IndexFunc(roots, of)
		if i < 0 || slices.ContainsFunc(roots[i+1:], of) || slices.ContainsFunc(roots, func(root Root) bool { return covers(root, r) }) {
			continue
		}
		roots[i].Beside = append(roots[i].Beside, r)
	}
}

// covers reports whether a root is a Kustomization, or syncs its folder.
func covers(root, r Root) bool {
	return root.Object == r.Object || root.is(r) || root.Path == "." || root.Path == r.Path || repository.Within(root.Path, r.Path)
}
