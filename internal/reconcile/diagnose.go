package reconcile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// diagnose finds what kustomize most likely refuses in a folder, or in those that it is made
// of, and nil where it finds nothing: kustomize's own errors name no line, and in the outermost
// file what is wrong in an inner one.
func (v *view) diagnose(dir string, seen map[string]bool) *Failure {
	k, ok := v.repo.KustomizeAt(dir)
	if !ok || seen[dir] || k.Spec == nil {
		return nil
	}
	seen[dir] = true
	if f := v.missingFile(k); f != nil {
		return f
	}
	for i, ref := range k.Spec.Resources {
		if f := v.diagnoseFolder(k, "resources", i, ref, false, seen); f != nil {
			return f
		}
	}
	for i, ref := range k.Spec.Components {
		if f := v.diagnoseFolder(k, "components", i, ref, true, seen); f != nil {
			return f
		}
	}
	return nil
}

// diagnoseFolder looks at what a kustomization refers to as a resource or component.
func (v *view) diagnoseFolder(k *repository.Kustomize, field string, i int, ref string, component bool, seen map[string]bool) *Failure {
	at, inside := repository.Join(k.Dir, ref)
	if !inside || isRemote(ref) && !v.Exists(absolute(at)) {
		return nil
	}
	switch other, ok := v.repo.KustomizeAt(at); {
	case !v.Exists(absolute(at)):
		return failureAt(k, fmt.Sprintf("%s: %q doesn't exist", field, ref), field, i)
	case !v.IsDir(absolute(at)):
		return nil
	case !ok:
		return failureAt(k, fmt.Sprintf("%s: %q has no kustomization.yaml", field, ref), field, i)
	case other.Component && !component:
		return failureAt(k, fmt.Sprintf("%s: %q is a Component, and belongs under components", field, ref), field, i)
	case !other.Component && component && other.Spec != nil:
		return failureAt(k, fmt.Sprintf("%s: %q is no Component, and belongs under resources", field, ref), field, i)
	}
	return v.diagnose(at, seen)
}

// missingFile finds a file of a patch or generator that isn't there.
func (v *view) missingFile(k *repository.Kustomize) *Failure {
	gone := func(ref string) bool {
		at, inside := repository.Join(k.Dir, ref)
		return ref != "" && inside && !isRemoteFile(ref) && !v.Exists(absolute(at))
	}
	for i, p := range k.Spec.Patches {
		if gone(p.Path) {
			return failureAt(k, fmt.Sprintf("patches: %q doesn't exist", p.Path), "patches", i, "path")
		}
	}
	generator := func(field string, i int, from types.KvPairSources) *Failure {
		for _, list := range []struct {
			name string
			refs []string
		}{{"files", from.FileSources}, {"envs", from.EnvSources}} {
			for j, ref := range list.refs {
				if _, file, keyed := strings.Cut(ref, "="); keyed && list.name == "files" {
					ref = file
				}
				if gone(ref) {
					f := failureAt(k, fmt.Sprintf("%s: %q doesn't exist", field, ref), field, i, list.name, j)
					if at := path.Join(k.Dir, ref); v.repo.Exists(at) {
						f.LeftOut = at
						f.Message = fmt.Sprintf("%s: Flux doesn't see %q: source-controller leaves it out", field, ref)
					}
					return f
				}
			}
		}
		return nil
	}
	for i, g := range k.Spec.ConfigMapGenerator {
		if f := generator("configMapGenerator", i, g.KvPairSources); f != nil {
			return f
		}
	}
	for i, g := range k.Spec.SecretGenerator {
		if f := generator("secretGenerator", i, g.KvPairSources); f != nil {
			return f
		}
	}
	return nil
}

// failureAt is a failure at a place of a kustomization. Fields that kustomize moved to their
// successors stand nowhere: then it is the file.
func failureAt(k *repository.Kustomize, message string, at ...any) *Failure {
	f := &Failure{Reason: BuildFailed, File: k.File.Path, Message: message}
	if k.Document != nil && (k.Document.Lookup(at...) != nil || slices.Contains([]any{"resources", "components"}, at[0])) {
		f.Line, f.Column = k.Document.Position(at...)
	}
	return f
}
