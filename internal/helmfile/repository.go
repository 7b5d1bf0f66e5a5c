package helmfile

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// all evaluates the helmfiles and charts of a repository, and returns the releases by the file that declares them. A file that
// other files use as a base or call is evaluated only through them, unless none of them gets releases from it. Releases
// that several files get from it are returned once if they are equal.
func (r *reader) all(files []string) (map[string][]*Release, error) {
	out := map[string][]*Release{}
	add := func(releases []*Release) {
		for _, each := range releases {
			if !slices.ContainsFunc(out[each.File], each.same) {
				out[each.File] = append(out[each.File], each)
			}
		}
	}
	evaluate := func(file string) error {
		releases, err := r.evaluated(file)
		if err != nil {
			return err
		}
		add(releases)
		return r.Ctx.Err()
	}
	used, parts := r.usedBy(files)
	files = slices.DeleteFunc(slices.Clone(files), func(file string) bool { return parts[file] })
	for _, file := range files {
		if !used[file] {
			if err := evaluate(file); err != nil {
				return nil, err
			}
		}
	}
	for _, file := range files {
		if len(out[file]) == 0 {
			if err := evaluate(file); err != nil {
				return nil, err
			}
		}
	}
	add(r.charts())
	for _, releases := range out {
		sorting.StableFunc(releases, byPlace)
	}
	return out, nil
}

// guarded evaluates a file as a unit of work.
func guarded[T any](r *reader, file string, evaluate func(*reader) (T, error)) (T, error) {
	r.budget = limits.Helmfiles
	r.Unit = bounds.Unit{Kind: "bootstrap", File: file}
	own, marks := *r, r.Marks()
	result, err := bounds.Do(r.Unit, func() (T, error) { return evaluate(&own) })
	if exceeded := (*bounds.Error)(nil); errors.As(err, &exceeded) {
		*r = *newReader(r.Ctx, r.repo) // the old engine is still in use
		r.Restore(marks)
	}
	return result, err
}

// evaluated returns the releases of a file. If the file exceeds a limit, it returns one unreadable release as a placeholder.
func (r *reader) evaluated(file string) ([]*Release, error) {
	releases, err := guarded(r, file, func(r *reader) ([]*Release, error) { return r.allVariants(file) })
	if exceeded := (*bounds.Error)(nil); errors.As(err, &exceeded) {
		out := &Release{Definition: InHelmfile, Cluster: repository.BootstrapCluster(r.Paths(), file), Place: located.At(file, 1)}
		out.Unreadable, out.Exceeded = "the file was not evaluated: "+exceeded.Error(), exceeded
		return []*Release{out}, nil
	}
	return releases, err
}

// usedBy returns the files that another helmfile names as a base or calls, and in parts the templates that another helmfile
// reads, which are not helmfiles themselves.
func (r *reader) usedBy(files []string) (used, parts map[string]bool) {
	used, parts = map[string]bool{}, map[string]bool{}
	for _, file := range files {
		h, err := guarded(r, file, func(r *reader) (*helmfile, error) { return r.load(file, path.Dir(file), nil, nil, false) })
		if err != nil || h == nil {
			continue
		}
		for p := range r.Reads {
			parts[p] = parts[p] || p != file && strings.HasSuffix(p, ".gotmpl")
		}
		for _, base := range h.bases {
			if p, bad := r.Locate("a base is", h.dir, base.Value); bad.Reason == "" && p != file {
				used[p] = true
			}
		}
		for _, c := range h.calls {
			for _, p := range r.called(h, c) {
				used[p] = used[p] || p != file
			}
		}
	}
	return used, parts
}

// allVariants evaluates a helmfile and those that it calls, for all values of environment variables that decide which files
// it reads.
func (r *reader) allVariants(file string) ([]*Release, error) {
	type evaluated struct {
		releases []*Release
		err      error
	}
	budget := r.budget
	all := templates.Explore(r.Engine, func() evaluated {
		r.budget = budget
		releases, err := r.releases(file, nil, nil)
		return evaluated{releases, err}
	})
	if len(all) == 1 || all[0].Result.err != nil {
		return all[0].Result.releases, all[0].Result.err
	}
	type key struct {
		finding.Place
		name  string
		again int
	}
	byKey := map[key][]variant{}
	var order []key
	for _, b := range all {
		times := map[key]int{}
		for _, each := range b.Result.releases {
			k := key{each.Place, each.Name.Value, 0}
			times[k]++
			k.again = times[k]
			if byKey[k] == nil {
				order = append(order, k)
			}
			byKey[k] = append(byKey[k], variant{Assumptions: b.Assumptions, Result: each})
		}
	}
	var out []*Release
	for _, k := range order {
		out = append(out, combined(byKey[k]))
	}
	return withoutBroken(out), nil
}

// withoutBroken removes the placeholders of unreadable files if other assumptions lead to readable releases.
func withoutBroken(all []*Release) []*Release {
	if !slices.ContainsFunc(all, func(r *Release) bool { return r.Unreadable == "" }) {
		return all
	}
	return slices.DeleteFunc(all, func(r *Release) bool { return r.Unreadable != "" })
}
