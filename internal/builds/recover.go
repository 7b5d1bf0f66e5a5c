package builds

import (
	"context"
	"reflect"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// mostRecoveries is how often a failing build is repeated, each time with one more part excluded.
const mostRecoveries = 12

// lenient returns the files for builds that exclude missing resources and components. All builds share them.
func (f *Files) lenient() *Files {
	f.recovered.Do(func() {
		f.left = &Files{Repo: f.Repo, Base: f.Base, Real: f.Real, Budget: f.Budget, Remotes: f.Remotes, Brought: f.Brought, Contained: f.Contained, recovers: true}
	})
	return f.left
}

// recover repeats a build that kustomize refused, without the part that it refused. Like a compiler, it reports each
// reason once and builds the rest. It does not report a reason that a missing or remote part may cause.
// Objects that an excluded part may change are excluded, too, except for Flux Kustomizations, which are followed.
func (f *Files) recover(ctx context.Context, dir string, spec *kustomizev1.KustomizationSpec, first *Built) *Built {
	files := f.lenient()
	if f.Repo.Partial() {
		files = f // the missing files may exist in the repository
	}
	if !first.refused || f.Repo.Partial() && first.Failure == nil {
		return first
	}
	out := &leftOut{entries: map[string][]exclusion{}, lines: map[string][]int{}, whole: map[string]bool{}, added: map[int]bool{}}
	var reasons []Failure
	last := first
	excluded := false
	for range mostRecoveries {
		last = files.buildWithout(ctx, dir, spec, out)
		for _, m := range last.missing {
			reasons = addReason(reasons, m)
		}
		if !last.refused {
			break
		}
		failure := last.diagnosed
		if failure == nil || f.Repo.Partial() && last.Failure == nil {
			return first // the reason is a limit or a gap, which is reported elsewhere
		}
		if open := excluded || len(reasons) > 0 || len(last.Gaps) > 0; !failure.open || !open {
			reasons = addReason(reasons, *failure)
		}
		if excluded = failure.out != nil && out.add(failure.out); !excluded {
			break
		}
		out.loosen(failure.out, added(spec))
	}
	if last.refused {
		last.Results = nil
	}
	if slices.ContainsFunc(last.missing, func(f Failure) bool { return f.of == "components" }) {
		out.loose = append(out.loose, loosened{})
	}
	out.hide(last)
	last.Gaps = union(first.Gaps, last.Gaps) // with more parts left out, the gaps of the first build remain unknown
	last.Remotes = union(first.Remotes, last.Remotes)
	last.Failure, last.More = nil, nil
	if len(reasons) > 0 {
		last.Failure, last.More = &reasons[0], reasons[1:]
	}
	last.Files = slices.Compact(slices.Sorted(slices.Values(slices.Concat(first.Files, last.Files))))
	return last
}

// leadsTo returns the entry of the innermost kustomization that leads to the place where kustomize fails, according to
// its message; nil if that is the built folder itself.
func (v *view) leadsTo(dir, message string) (entry *exclusion) {
	for {
		_, rest, found := strings.Cut(message, "accumulating resources from '")
		ref, rest, _ := strings.Cut(rest, "'")
		k, ok := v.Repo.KustomizeAt(dir)
		if !found || !ok || k.Spec == nil {
			return entry
		}
		i := slices.Index(k.Spec.Resources, ref)
		at, inside := repository.Join(k.Dir, ref)
		if i < 0 || !inside || v.out.has(entryAt(k, "resources", i)) {
			return entry
		}
		entry, dir, message = entryAt(k, "resources", i), at, rest
	}
}

// union returns the elements of two lists, each once.
func union[T any](a, b []T) []T {
	all := slices.Clone(a)
	for _, one := range b {
		if !slices.ContainsFunc(a, func(other T) bool { return reflect.DeepEqual(one, other) }) {
			all = append(all, one)
		}
	}
	return all
}

// forget drops the fields of a build that only recover needs.
func (b *Built) forget() {
	b.diagnosed, b.missing = nil, nil
	if b.Failure != nil {
		b.Failure.out = nil
	}
	for i := range b.More {
		b.More[i].out = nil
	}
}

// added returns the patches of a Flux Kustomization in kustomize's type.
func added(spec *kustomizev1.KustomizationSpec) []types.Patch {
	all := make([]types.Patch, len(spec.Patches))
	for i, p := range spec.Patches {
		all[i] = types.Patch{Patch: p.Patch, Target: Selector(p.Target)}
	}
	return all
}

// addReason adds a failure to a list unless the list contains it.
func addReason(all []Failure, one Failure) []Failure {
	if slices.ContainsFunc(all, func(known Failure) bool {
		return known.File == one.File && known.Line == one.Line && (known.Message == one.Message || one.Line > 0)
	}) {
		return all
	}
	return append(all, one)
}
