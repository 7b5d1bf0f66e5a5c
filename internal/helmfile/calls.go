package helmfile

import (
	"fmt"
	"slices"
)

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
