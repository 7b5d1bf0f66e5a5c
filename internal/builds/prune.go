package builds

import (
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// prune removes the resources from a kustomization that are not wanted, and reports
// whether there were any. If none is wanted, the first one remains: kustomize refuses an empty
// kustomization.
func (f *Files) prune(dir string, k *types.Kustomization) bool {
	if f.Wanted == nil {
		return false
	}
	kept := slices.DeleteFunc(slices.Clone(k.Resources), func(ref string) bool {
		at, ok := repository.Join(dir, ref)
		return ok && path.Clean(at) != dir && !isRemotePath(at) && !f.Wanted(at)
	})
	if len(kept) == 0 && len(k.Resources) > 0 {
		kept = k.Resources[:1]
	}
	pruned := len(kept) < len(k.Resources)
	k.Resources = kept
	return pruned
}

// whole returns the files without Wanted, so that builds read all of them. All builds share them.
func (f *Files) whole() *Files {
	f.unpruned.Do(func() {
		f.all = &Files{Repo: f.Repo, Base: f.Base, Real: f.Real, Budget: f.Budget, Remotes: f.Remotes, Contained: f.Contained}
	})
	return f.all
}
