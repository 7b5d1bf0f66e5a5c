package builds

import (
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// prune takes the resources out of a kustomization of a folder that nobody asks for, and says
// whether there were any. Where nobody asks for any, the first stays: kustomize refuses an empty
// kustomization.
func (f *Files) prune(dir string, k *types.Kustomization) bool {
	if f.Wanted == nil {
		return false
	}
	kept := slices.DeleteFunc(slices.Clone(k.Resources), func(ref string) bool {
		at, ok := repository.Join(dir, ref)
		return ok && path.Clean(at) != dir && !f.Wanted(at)
	})
	if len(kept) == 0 && len(k.Resources) > 0 {
		kept = k.Resources[:1]
	}
	pruned := len(kept) < len(k.Resources)
	k.Resources = kept
	return pruned
}

// whole are the files with nothing taken out, which all builds that need them share.
func (f *Files) whole() *Files {
	f.unpruned.Do(func() { f.all = &Files{Repo: f.Repo, Base: f.Base, Real: f.Real, Budget: f.Budget} })
	return f.all
}
