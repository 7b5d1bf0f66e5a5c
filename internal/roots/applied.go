package roots

import (
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// appliedRoots returns the roots of folders that kubectl applies once, beside the roots that were found: the kustomization of
// such a folder lists the source of this repository and a Kustomization that applies a folder below it from that source.
// Nothing in the repository applies the Kustomization, and no other root has the folder.
func appliedRoots(namespaces namespaces, found []Root, remotes []string) []Root {
	repo := namespaces.repo
	var roots []Root
	listed := map[string]bool{}
	for _, l := range outward(repo) {
		listed[l.to] = true
	}
	for _, r := range topmost(repo, namespaces.name(rootsOf(Candidates(repo)))) {
		dir := path.Dir(r.File)
		k, ok := repo.KustomizeAt(dir)
		if !ok || k.Spec == nil || dir == "." || listed[dir] || r.isTemplate() || isPutAway(r.File) || repository.IsExample(r.File) ||
			topFolder(repo, dir) != dir || !repository.Within(dir, r.Path) || !Has(repo, r.Path) {
			continue
		}
		isListed := func(file string) bool {
			return slices.ContainsFunc(k.Spec.Resources, func(ref string) bool {
				at, inside := repository.Join(dir, ref)
				return inside && at == file
			})
		}
		isOwn := func(s *repository.Object) bool {
			return isListed(s.File()) && (len(remotes) == 0 || isOneOf(s, remotes))
		}
		isTaken := func(other Root) bool {
			return other.Boundary != nil || repository.Within(other.Path, dir+"/") || repository.Within(dir, other.Path)
		}
		if isListed(r.File) && slices.ContainsFunc(namespaces.sources(r.Source), isOwn) &&
			!slices.ContainsFunc(found, isTaken) && !slices.ContainsFunc(roots, isTaken) {
			roots = append(roots, folder(namespaces, dir, remotes))
		}
	}
	return roots
}
