package roots

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Base is the sync of a cluster in a folder that other kustomizations list: each cluster's overlay may set another path.
type Base struct {
	Root
	// Overlays are the outermost folders that list it.
	Overlays []string
}

// Bases returns the Kustomizations with the name that `flux bootstrap` uses, or beside their own source, in folders that
// overlays in other folders list.
func Bases(repo *repository.Repository) []Base {
	var bases []Base
	by, left := listers(repo), mostOverlays
	known := map[string][]string{} // the overlays by folder
	for _, r := range rootsOf(Candidates(repo)) {
		beside := path.Dir(r.File)
		isBeside := func(s *repository.Object) bool { return path.Dir(s.File()) == beside }
		if r.isTemplate() || !r.isFluxSystem() && !slices.ContainsFunc(repo.Find(fluxapi.SourceGroup, r.Source.Kind, r.Source.Namespace, r.Source.Name), isBeside) {
			continue
		}
		dir := topFolder(repo, beside)
		over, found := known[dir]
		if !found {
			for _, at := range slices.Concat(overlays(by, dir, &left), overlays(by, r.File, &left)) {
				if at != dir && at != r.File && !isPutAway(at) {
					over = append(over, at)
				}
			}
			known[dir] = over
		}
		if left -= len(over); left < 0 {
			break
		}
		if len(over) > 0 {
			bases = append(bases, Base{r, over})
		}
	}
	return bases
}

// In returns the root for an overlay of the base, if the path that the Kustomization has in the overlay's build contains
// the overlay.
func (b Base) In(repo *repository.Repository, overlay, at string) (Root, bool) {
	dir := repository.Clean(at)
	if dir == "." || dir == b.Path || strings.Contains(at, "${") || !repository.Within(dir, overlay+"/") || !Has(repo, dir) {
		return Root{}, false
	}
	r := b.Root
	r.Path, r.Spec.Path = dir, at
	return r, true
}

// WithOverlaid adds the roots from overlays of bases to the found ones. It removes guessed roots, and a base that syncs
// no folder of its own or a folder with one of baseNames.
func WithOverlaid(found, overlaid []Root) []Root {
	if len(overlaid) == 0 {
		return found
	}
	kept := slices.DeleteFunc(slices.Clone(found), func(r Root) bool {
		isBase := slices.ContainsFunc(overlaid, func(o Root) bool { return o.Object == r.Object })
		return r.Guessed() || isBase && (r.Path == "." || !repository.Within(r.Path, r.File) || slices.Contains(baseNames, path.Base(r.Path)))
	})
	return sorted(append(kept, overlaid...))
}
