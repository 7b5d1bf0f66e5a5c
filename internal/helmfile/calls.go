package helmfile

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// checkCall refuses a call of a helmfile that does not exist.
func (r *reader) checkCall(h *helmfile, c call) {
	if len(r.called(h, c)) == 0 && !isRemote(c.path.Value) && cmp.Or(h.missingFiles.Value, "Error") == "Error" {
		_, local := repository.Join(h.dir, c.path.Value)
		h.refuseIf(local, c.path.Place, fmt.Sprintf("the helmfile %q does not exist", c.path.Value))
	}
}

// isRemote reports whether helmfile fetches a path by go-getter.
func isRemote(p string) bool { return strings.Contains(p, "://") || strings.Contains(p, "::") }

// called returns the files that a call runs: in a folder, all files with the suffix of a helmfile, sorted.
func (r *reader) called(h *helmfile, c call) []string {
	p, local := repository.Join(h.dir, c.path.Value)
	if !local || isRemote(c.path.Value) {
		return nil
	}
	if found := r.Matching(p); len(found) > 0 {
		return found
	}
	var found []string
	for _, f := range r.Paths() {
		inside := path.Dir(f)
		if matches, err := path.Match(p, inside); err != nil || !matches {
			continue
		}
		name := strings.TrimSuffix(path.Base(f), ".gotmpl")
		if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
			found = append(found, f)
		}
	}
	return found
}

// releases evaluates a helmfile and those that it calls. Their releases come first, as helmfile installs them. The files within
// called this one, and override replaces the values that the call passes.
func (r *reader) releases(file string, within []string, override *environment) ([]*Release, error) {
	h, err := r.load(file, path.Dir(file), nil, override, false)
	if err != nil {
		return nil, err
	}
	var out []*Release
	for _, call := range h.calls {
		for _, p := range r.called(h, call) {
			nested, err := r.nested(h, call, p, append(slices.Clone(within), file))
			if err != nil {
				h.refuseIf(r.budget >= 0, call.path.Place, err.Error())
			}
			out = append(out, nested...)
		}
	}
	all := firstOfEach(h.refusals)
	for _, each := range out { // helmfile does not run them if it refuses the file that calls them
		each.Refusals = firstOfEach(all, each.Refusals)
	}
	own := r.evaluate(h)
	all = h.refusals
	for _, each := range out {
		all = slices.Concat(all, each.Refusals)
	}
	all = firstOfEach(all)
	for _, each := range own {
		each.Refusals = all
	}
	return append(out, own...), nil
}

// nested evaluates a helmfile that another one calls.
func (r *reader) nested(h *helmfile, c call, file string, within []string) ([]*Release, error) {
	if r.budget--; r.budget < 0 {
		return nil, r.tooMany()
	}
	if slices.Contains(within, file) {
		return nil, fmt.Errorf("the helmfile calls itself: %s", strings.Join(append(within, file), " → "))
	}
	if c.inherits {
		return []*Release{{Definition: InHelmfile, Cluster: repository.BootstrapCluster(r.Paths(), file), Place: located.At(file, 1),
			Unreadable: fmt.Sprintf("it inherits fields of %s, which calls it (inherits), which is not evaluated", h.file)}}, nil
	}
	var override *environment
	if len(c.values) > 0 {
		env := newEnvironment()
		env.values = r.environmentValues(h, &env, c.values, nil, "")
		override = &env
	}
	releases, err := r.releases(file, within, override)
	return selected(releases, c), err
}

// selected marks the releases that the selectors of a call exclude.
func selected(releases []*Release, c call) []*Release {
	if len(c.selectors) == 0 {
		return releases
	}
	for _, r := range releases {
		if !slices.ContainsFunc(c.selectors, r.matches) {
			r.Skipped = &located.Text{Place: c.path.Place, Value: "the selectors of the helmfile that calls this one leave it out"}
		}
	}
	return releases
}

// matches reports whether a release has the labels of a selector: a=b,c!=d.
func (r *Release) matches(selector string) bool {
	for part := range strings.SplitSeq(selector, ",") {
		key, value, _ := strings.Cut(part, "=")
		if key, negative := strings.CutSuffix(key, "!"); (r.labels[key] == value) == negative {
			return false
		}
	}
	return true
}
