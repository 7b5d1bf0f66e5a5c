package helmfile

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// newCall reads an item of helmfiles: a path, or a map with one.
func newCall(file string, n *yaml.Node) call {
	if n.Kind == yaml.ScalarNode {
		return call{path: located.Text{Place: located.At(file, n.Line), Value: n.Value}}
	}
	c := call{path: located.ScalarText(file, n, "path"), values: entries(file, n, "values")}
	for _, s := range located.Items(n, "selectors") {
		c.selectors = append(c.selectors, s.Value)
	}
	for _, i := range located.Items(n, "inherits") {
		c.inherits = append(c.inherits, i.Value)
	}
	return c
}

// checkCall refuses a call of a helmfile that isn't there, as helmfile does when
// it reads the part.
func (r *reader) checkCall(h *helmfile, c call) {
	if len(r.called(h, c)) == 0 && !isRemote(c.path.Value) && cmp.Or(h.missingFiles.Value, "Error") == "Error" {
		_, local := repository.Join(h.dir, c.path.Value)
		h.refuseIf(local, c.path.Place, "no matches for path: "+c.path.Value)
	}
}

// isRemote says whether helmfile fetches a path by go-getter.
func isRemote(p string) bool { return strings.Contains(p, "://") || strings.Contains(p, "::") }

// called are the files that a call runs: of a folder, all that end as a helmfile
// does, sorted.
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

// releases evaluates a helmfile and those that it calls: their releases come
// first, as helmfile installs them. within are the files that called it.
func (r *reader) releases(file string, within []string, inherited, override *environment, c *caller) ([]*Release, error) {
	h, err := r.helmfile(file, inherited, override)
	if err != nil {
		return nil, err
	}
	c.give(h)
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
	// helmfile loads the file, runs those that it calls, and then its releases.
	before := slices.Clone(h.refusals)
	own := r.evaluate(h)
	for _, each := range out {
		each.Refusals = firstOfEach(before, each.Refusals)
	}
	for _, each := range out {
		before = firstOfEach(before, each.Refusals)
	}
	all := firstOfEach(before, inPhases(h.refusals))
	for _, each := range own {
		each.Refusals = all
	}
	return append(out, own...), nil
}

// nested evaluates a helmfile that another calls.
func (r *reader) nested(h *helmfile, c call, file string, within []string) ([]*Release, error) {
	if r.budget--; r.budget < 0 {
		return nil, r.tooMany()
	}
	if slices.Contains(within, file) {
		return nil, fmt.Errorf("%s contains a recursion into the same sub-helmfile", within[len(within)-1])
	}
	var env *environment
	if slices.Contains(c.inherits, "environments") {
		own := h.env
		env = &own
	}
	releases, err := r.releases(file, within, env, r.given(h, c), &caller{h, c})
	return selected(releases, c), err
}

// given are the values that a call passes on.
func (r *reader) given(h *helmfile, c call) *environment {
	if len(c.values) == 0 {
		return nil
	}
	env := newEnvironment()
	env.values = r.environmentValues(h, &env, c.values, nil, "", "")
	return &env
}
