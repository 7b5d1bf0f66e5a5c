package schema

import (
	"context"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// mostOverlays is the maximum number of overlays that are built for a base.
const mostOverlays = 20

// overlays are the kustomizations of a repository without clusters that list other ones: they may set the fields that a
// base lacks.
type overlays struct {
	ctx   context.Context
	files *builds.Files
	// listing are the folders of the kustomizations that list a file or folder.
	listing map[string][]string
}

func newOverlays(p *rule.Pass) *overlays {
	v := &overlays{ctx: p.Context, listing: map[string][]string{},
		files: &builds.Files{Repo: p.Repo, Base: ".", Budget: builds.NewBudget(p.Repo)}}
	for _, k := range p.Repo.Kustomizes() {
		if k.Spec == nil {
			continue
		}
		for _, ref := range slices.Concat(k.Spec.Resources, k.Spec.Components, k.Spec.Bases) { //nolint:staticcheck // older repositories use bases
			if at, inside := repository.Join(k.Dir, ref); inside && !slices.Contains(v.listing[at], k.Dir) {
				v.listing[at] = append(v.listing[at], k.Dir)
			}
		}
	}
	return v
}

// outermost returns the kustomizations that build a file and that no other kustomization lists. more reports whether
// there are more than mostOverlays.
func (v *overlays) outermost(file string) (dirs []string, more bool) {
	seen := map[string]bool{}
	next := []string{file}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		above := v.listing[at]
		if len(above) == 0 && at != file {
			if len(dirs) == mostOverlays {
				return dirs, true
			}
			dirs = append(dirs, at)
		}
		for _, dir := range above {
			if !seen[dir] {
				seen[dir] = true
				next = append(next, dir)
			}
		}
	}
	return dirs, false
}

// of returns the objects that the overlays build from an object in a file. overlaid reports whether there are overlays,
// known whether all objects that they build are known.
func (v *overlays) of(o *repository.Object) (values []map[string]any, overlaid, known bool) {
	dirs, more := v.outermost(o.File())
	if len(dirs) == 0 || len(dirs) == 1 && dirs[0] == path.Dir(o.File()) {
		return nil, false, false
	}
	known = !more
	for _, dir := range dirs {
		built := v.files.Build(v.ctx, dir, &kustomizev1.KustomizationSpec{})
		known = known && built.Failure == nil && len(built.More) == 0 && len(built.Gaps) == 0 && !built.Unbuilt
		values = append(values, resultsOf(built.Results, o)...)
	}
	return values, true, known
}

// isBase reports whether a kustomization lists a file in a folder named base or bases, or below.
func (v *overlays) isBase(file string) bool {
	return len(v.listing[file]) > 0 && slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(name string) bool { return name == "base" || name == "bases" })
}

// resultsOf returns the objects of a build that may be built from an object in a file: the objects of its kind whose
// names contain its name, or all objects of its kind if none does.
func resultsOf(results []builds.Result, o *repository.Object) []map[string]any {
	var all, named []map[string]any
	for _, r := range results {
		if r.Kind != o.Kind || r.Value["apiVersion"] != o.APIVersion {
			continue
		}
		all = append(all, r.Value)
		if o.Name != "" && strings.Contains(r.Name, o.Name) {
			named = append(named, r.Value)
		}
	}
	if len(named) > 0 {
		return named
	}
	return all
}
