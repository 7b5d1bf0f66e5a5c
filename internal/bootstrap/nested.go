package bootstrap

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// newCall reads an item of helmfiles: a path, or a map with one.
func newCall(file string, n *yaml.Node) call {
	if n.Kind == yaml.ScalarNode {
		return call{path: text{place{file, n.Line}, n.Value, nil}}
	}
	c := call{path: scalarText(file, n, "path"), values: entries(file, n, "values")}
	for _, s := range items(n, "selectors") {
		c.selectors = append(c.selectors, s.Value)
	}
	for _, i := range items(n, "inherits") {
		c.inherits = append(c.inherits, i.Value)
	}
	return c
}

// checkCall refuses a call of a helmfile that isn't there, as helmfile does when
// it reads the part.
func (r *reader) checkCall(h *helmfile, c call) {
	if len(r.called(h, c)) == 0 && !isRemote(c.path.value) && cmp.Or(h.missingFiles.value, "Error") == "Error" {
		_, local := repository.Join(h.dir, c.path.value)
		h.refuseIf(local, c.path.place, "no matches for path: "+c.path.value)
	}
}

// isRemote says whether helmfile fetches a path by go-getter.
func isRemote(p string) bool { return strings.Contains(p, "://") || strings.Contains(p, "::") }

// called are the files that a call runs: of a folder, all that end as a helmfile
// does, sorted.
func (r *reader) called(h *helmfile, c call) []string {
	p, local := repository.Join(h.dir, c.path.value)
	if !local || isRemote(c.path.value) {
		return nil
	}
	if found := r.matching(p); len(found) > 0 {
		return found
	}
	var found []string
	for _, f := range r.paths() {
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
func (r *reader) releases(file string, within []string, inherited, override *environment, c *caller) ([]*release, error) {
	h, err := r.helmfile(file, inherited, override)
	if err != nil {
		return nil, err
	}
	c.give(h)
	var out []*release
	for _, call := range h.calls {
		for _, p := range r.called(h, call) {
			nested, err := r.nested(h, call, p, append(slices.Clone(within), file))
			if err != nil {
				h.refuseIf(r.budget >= 0, call.path.place, err.Error())
			}
			out = append(out, nested...)
		}
	}
	// helmfile loads the file, runs those that it calls, and then its releases.
	before := slices.Clone(h.refusals)
	own := r.evaluate(h)
	for _, each := range out {
		each.refusals = firsts(before, each.refusals)
	}
	for _, each := range out {
		before = firsts(before, each.refusals)
	}
	all := firsts(before, inPhases(h.refusals))
	for _, each := range own {
		each.refusals = all
	}
	return append(out, own...), nil
}

// nested evaluates a helmfile that another calls.
func (r *reader) nested(h *helmfile, c call, file string, within []string) ([]*release, error) {
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

// caller is a helmfile that calls another, and how.
type caller struct {
	*helmfile
	call
}

// give passes on what the call lets the called helmfile inherit: its own wins.
func (c *caller) give(h *helmfile) {
	if c == nil {
		return
	}
	for _, what := range c.inherits {
		switch what {
		case "repositories":
			h.repositories = append(slices.Clone(c.repositories), h.repositories...)
		case "commonLabels":
			fill(h.commonLabels, c.commonLabels)
		case "templates":
			fill(h.templates, c.templates)
		case "helmDefaults":
			for k, list := range c.helmDefaults {
				if len(h.helmDefaults[k]) == 0 {
					h.helmDefaults[k] = list
				}
			}
		}
	}
}

func fill[V any](into, from map[string]V) {
	for k, v := range from {
		if _, has := into[k]; !has {
			into[k] = v
		}
	}
}

// selected marks the releases that the selectors of a call leave out.
func selected(releases []*release, c call) []*release {
	if len(c.selectors) == 0 {
		return releases
	}
	for _, r := range releases {
		if !slices.ContainsFunc(c.selectors, r.matches) {
			r.skipped = &text{place: c.path.place, value: "the selectors of the helmfile that calls this one leave it out"}
		}
	}
	return releases
}

// matches says whether a release has the labels of a selector: a=b,c!=d.
func (r *release) matches(selector string) bool {
	for part := range strings.SplitSeq(selector, ",") {
		if key, value, negative := strings.Cut(part, "!="); negative {
			if r.labels[key] == value {
				return false
			}
		} else if key, value, _ := strings.Cut(part, "="); r.labels[key] != value {
			return false
		}
	}
	return true
}
