package builds

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// leaveOut removes the resources and components that do not exist from a kustomization, and returns a failure for each.
func leaveOut(v *view, dir, file string, k *types.Kustomization) []Failure {
	var all []Failure
	drop := func(field string, refs []string, filesToo bool) []string {
		var kept []string
		for i, ref := range refs {
			if one := v.absent(dir, file, field, ref, i, filesToo); one != nil {
				all = append(all, *one)
				continue
			}
			kept = append(kept, ref)
		}
		return kept
	}
	k.Resources = drop("resources", k.Resources, true)
	k.Components = drop("components", k.Components, false)
	if len(all) > 0 {
		notEmpty(k)
	}
	return all
}

// absent returns the failure of a kustomization whose resource or component does not exist, or nil if it exists. kustomize's
// own error names no line.
func (v *view) absent(dir, file, field, ref string, i int, filesToo bool) *Failure {
	at, inside := repository.Join(dir, ref)
	isDir := inside && v.IsDir(absolute(at))
	bare := v.recovers && isDir && !v.hasKustomization(at)
	if isDir && !bare || inside && filesToo && v.Exists(absolute(at)) && !isDir || strings.Contains(ref, "\n") {
		return nil
	}
	f := &Failure{Reason: BuildFailed, Place: finding.Place{File: file}, of: field, Message: fmt.Sprintf("%s: %q doesn't exist", field, v.named(at, ref))}
	switch {
	case !inside:
		f.Message = fmt.Sprintf("%s: %q is outside the repository", field, ref)
	case bare:
		f.Message = fmt.Sprintf("%s: %q has no kustomization.yaml", field, v.named(at, ref))
	case !filesToo && v.Exists(absolute(at)):
		f.Message = fmt.Sprintf("%s: %q is a file, but a component must be a folder", field, v.named(at, ref))
	default:
		if why := v.Repo.Absence(at); why != "" {
			f.Message = fmt.Sprintf("%s: Flux does not find %q: %s", field, v.named(at, ref), why)
		}
	}
	own, ok := v.Repo.KustomizeAt(dir)
	known := ok && own.File.Path == file && own.Document != nil && own.Spec != nil
	if known {
		// Remote entries are already removed.
		i = cmp.Or(entryOf(own, field, ref)+1, i+1) - 1
	}
	switch {
	case field == "components" && (!known || entryOf(own, field, ref) < 0):
		f.Component = ref // the Flux Kustomization's own
		if other := path.Join(v.Base, repository.Clean(ref)); inside && !isDir && v.IsDir(absolute(other)) {
			f.Message = fmt.Sprintf("components: %q is relative to spec.path: there is no folder %q; write %q", ref, at, relativeTo(dir, other))
		}
	case known:
		f.Line, f.Column = own.Document.Position(field, i)
	}
	return f
}

// entryOf returns the index of a reference in a field of a kustomization, or -1 if it is not listed.
func entryOf(k *repository.Kustomize, field, ref string) int {
	refs := k.Spec.Resources
	if field == "components" {
		refs = k.Spec.Components
	}
	return slices.IndexFunc(refs, func(other string) bool { return other == ref || path.Clean(other) == path.Clean(ref) })
}

func (v *view) hasKustomization(dir string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool {
		f, at := v.at(path.Join(dir, name))
		return f.Repo.Visible(at)
	})
}

// relativeTo returns the relative path from a folder to another one; both are relative to the root of the repository.
func relativeTo(dir, other string) string {
	rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(other))
	if err != nil {
		return other
	}
	return filepath.ToSlash(rel)
}
