package roots

import (
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// otherSyncs returns the Kustomizations that sync a whole other repository. If mayMirror is set, it returns none if there is only
// one and its GitRepository is a mirror of the repository.
func otherSyncs(namespaces namespaces, remotes []string, mayMirror bool) map[*repository.Object]bool {
	all := namespaces.name(rootsOf(namespaces.repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")))
	others := map[*repository.Object]bool{}
	var last Root
	for _, r := range all {
		if r.syncsOther(namespaces.sources(r.Source), remotes) {
			others[r.Object], last = true, r
		}
	}
	if mayMirror && len(others) == 1 && last.isMirror(namespaces.repo, all) {
		return nil
	}
	return others
}

// syncsOther reports whether the root is the sync of a whole other Git repository: none of its sources has the name of a remote,
// and it is not in a folder as `flux bootstrap` creates it. The name of an artifact or bucket is not that of a repository.
func (r Root) syncsOther(sources []*repository.Object, remotes []string) bool {
	return r.isFluxSystem() && r.Path == "." && r.Source.Kind == "GitRepository" && len(remotes) > 0 && len(sources) > 0 &&
		path.Base(path.Dir(r.File)) != "flux-system" &&
		!slices.ContainsFunc(sources, func(s *repository.Object) bool { return isOneOf(s, remotes) })
}

// isMirror reports whether the root's source is the repository itself under another name: at least half of the paths that the
// other Kustomizations of the source name exist here, and none of another source syncs its own folder.
func (r Root) isMirror(repo *repository.Repository, all []Root) bool {
	named, found := 0, 0
	for _, k := range all {
		switch {
		case k.Path == ".":
		case k.Source == r.Source:
			if named++; Has(repo, k.Path) {
				found++
			}
		case repository.Within(k.Path, k.File):
			return false
		}
	}
	return found > 0 && found*2 >= named
}
