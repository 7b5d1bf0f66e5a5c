package bootstrap

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A condition on what cannot be known here, such as the environment, has two outcomes, and a
// path with an environment variable in it as many as files of the repository fit. Each way that
// an evaluation can go is a world: what is the same in all worlds is certain.

// world is what an evaluation takes for granted. It is never changed; nil takes nothing.
type world struct {
	// variables are the values of environment variables, and holds says which conditions do.
	variables map[string]string
	holds     map[mark]bool
	// because are the marks that the worlds part at, in their order.
	because []mark
}

// fork is where worlds part: at the values of an environment variable, or at a condition.
type fork struct {
	mark   mark
	values []string // of the variable; nil for a condition
}

// Bounds: a bootstrap in use has one or two variables, with a value for each cluster.
const (
	maxWorlds = 24
	maxValues = 12
	// maxExplored is how often anything is evaluated again for the sake of another world, in all
	// bootstraps of a repository.
	maxExplored = 600
)

// options are the worlds that follow upon one at a fork.
func (w *world) options(f *fork) []*world {
	next := func() *world {
		out := &world{variables: map[string]string{}, holds: map[mark]bool{}, because: []mark{f.mark}}
		if w != nil {
			maps.Copy(out.variables, w.variables)
			maps.Copy(out.holds, w.holds)
			out.because = append(slices.Clone(w.because), f.mark)
		}
		return out
	}
	var all []*world
	if f.values == nil {
		for _, holds := range []bool{true, false} {
			with := next()
			with.holds[f.mark] = holds
			all = append(all, with)
		}
	}
	for _, value := range f.values {
		with := next()
		with.variables[f.mark.variable] = value
		all = append(all, with)
	}
	return all
}

// variable is the value that the world under way gives an environment variable.
func (e *engine) variable(name string) (value string, known bool) {
	if e.world == nil {
		return "", false
	}
	value, known = e.world.variables[name]
	return value, known
}

// holds says whether the condition that a mark stands for does in the world under way. Where
// that leaves it open, the worlds part here.
func (e *engine) holds(m mark) (holds, known bool) {
	plain := m
	plain.negated = false
	if e.world != nil {
		holds, known = e.world.holds[plain]
	}
	if !known && e.fork == nil && m.missing == "" {
		e.fork = &fork{mark: plain}
	}
	return holds != m.negated, known
}

// negated is the mark of a condition's contrary.
func negated(m mark) mark {
	m.negated = !m.negated
	return m
}

// derived is the mark of what a function makes of a mark: another value, for the same reason.
func (e *engine) derived(m mark, function string, args ...any) string {
	m.variable, m.negated = "", false
	m.expression = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf([]byte(function+" "+m.expression), "%#v", args)))
	return e.mark(m)
}

// askVariable lets the worlds part at the environment variable that decides which of some files
// a path names: the files are those that fit the path.
func (e *engine) askVariable(pattern string, found []string) {
	within := anyMark.FindAllString(pattern, -1)
	if len(within) == 0 || e.fork != nil {
		return
	}
	m, _ := e.marked(within[0])
	if m.variable == "" || slices.ContainsFunc(within, func(s string) bool { return s != within[0] }) {
		return
	}
	fits, err := regexp.Compile("(?:^|/)" + anyMark.ReplaceAllString(regexp.QuoteMeta(pattern), `([^/]+)`) + "$")
	if err != nil {
		return
	}
	var values []string
	for _, file := range found {
		match := fits.FindStringSubmatch(file)
		if match == nil || slices.ContainsFunc(match[1:], func(s string) bool { return s != match[1] }) {
			continue
		}
		values = append(values, match[1])
	}
	slices.Sort(values)
	if values = slices.Compact(values); len(values) > 0 && len(values) <= maxValues {
		e.fork = &fork{mark: m, values: values}
	}
}

// branch is what an evaluation comes to in one world.
type branch[T any] struct {
	world  *world
	result T
}

// explore evaluates in every world that what is unknown leaves open. Where these are too many,
// there is one branch, in which it stays open. The evaluation must be repeatable.
func explore[T any](e *engine, evaluate func() T) []branch[T] {
	outer, asked := e.world, e.fork
	defer func() { e.world, e.fork = outer, asked }()
	var done []branch[T]
	var undecided *T
	for open := []*world{outer}; len(open) > 0; {
		e.world, e.fork = open[len(open)-1], nil
		open = open[:len(open)-1]
		result := evaluate()
		if undecided == nil {
			undecided = &result
		}
		if e.fork == nil {
			done = append(done, branch[T]{e.world, result})
			continue
		}
		next := e.world.options(e.fork)
		e.explored += len(next)
		if len(done)+len(open)+len(next) > maxWorlds || e.explored > maxExplored {
			return []branch[T]{{outer, *undecided}}
		}
		slices.Reverse(next)
		open = append(open, next...)
	}
	return done
}

// outcome is a release in one world, with the reasons for which helmfile stops there.
type outcome struct {
	release  *release
	refusals []refusal
}

// combined is a release of which some worlds are possible: one that is the same in all of them,
// else one whose fields are unknown where they differ, with its variants. Worlds in which
// helmfile stops don't count where it doesn't in others, nor do the values of a variable for
// which a file isn't there.
func (e *engine) combined(all []branch[outcome]) outcome {
	if len(all) == 1 {
		return all[0].result
	}
	possible := slices.DeleteFunc(slices.Clone(all), func(b branch[outcome]) bool {
		return slices.ContainsFunc(b.result.refusals, func(r refusal) bool {
			return r.deliberate() || !r.doubtful && (!r.absent || b.world != nil && len(b.world.variables) > 0)
		})
	})
	if len(possible) == 0 {
		possible = all
	}
	var refusals []refusal // that none of the worlds is without
	if !slices.ContainsFunc(possible, func(b branch[outcome]) bool { return len(b.result.refusals) == 0 }) {
		refusals = possible[0].result.refusals
	}
	var variants []*release
	for _, b := range possible {
		each := b.result.release
		each.world = b.world
		variants = append(variants, each)
	}
	return outcome{e.combine(variants), refusals}
}

// combine makes one release of what it is in several worlds.
func (e *engine) combine(variants []*release) *release {
	first := variants[0]
	byCluster := slices.ContainsFunc(variants, func(r *release) bool { return r.world != nil && len(r.world.variables) > 0 })
	if !slices.ContainsFunc(variants, func(r *release) bool { return byCluster && len(variants) > 1 || !r.same(first) || r.variants != nil }) {
		out := *first
		out.reads = commonReads(variants)
		return &out
	}
	m := mark{reason: parting(variants)}
	out := *first
	out.variants = nil
	for _, v := range variants {
		out.variants = append(out.variants, v.worlds()...)
	}
	if len(out.variants) > maxVariants {
		out.variants = nil
	}
	out.reads = commonReads(variants)
	for _, other := range variants[1:] {
		out.overlay(other, m, e.mark(m))
	}
	return &out
}

// maxVariants bounds the variants of a release, whose file parts in worlds too.
const maxVariants = 64

// worlds are the variants of a release, or the release itself.
func (r *release) worlds() []*release {
	if len(r.variants) > 0 {
		return r.variants
	}
	return []*release{r}
}

// parting says in words what some worlds differ by.
func parting(variants []*release) string {
	var reasons []string
	for _, v := range variants {
		if v.world == nil {
			continue
		}
		for _, m := range v.world.because {
			if !slices.Contains(reasons, m.reason) {
				reasons = append(reasons, m.reason)
			}
		}
	}
	if len(reasons) == 0 {
		return "it depends on what cannot be known"
	}
	return "it depends on what cannot be known: " + strings.Join(reasons, "; ")
}

// commonReads are the files that are read in some world; one that is missing counts where it is
// in all of them.
func commonReads(variants []*release) map[string]bool {
	out := map[string]bool{}
	for _, v := range variants {
		for p, exists := range v.reads {
			if exists || !slices.ContainsFunc(variants, func(other *release) bool {
				there, read := other.reads[p]
				return there || !read
			}) {
				out[p] = exists
			}
		}
	}
	return out
}

// overlay makes unknown what differs from the release in another world.
func (r *release) overlay(other *release, m mark, sign string) {
	alike := func(mine *text, theirs text) {
		if mine.value != theirs.value || (mine.unknown == nil) != (theirs.unknown == nil) {
			mine.value, mine.unknown = "", &m
		}
	}
	for _, pair := range [][2]*text{{&r.name, &other.name}, {&r.namespace, &other.namespace}, {&r.chart, &other.chart},
		{&r.version, &other.version}, {&r.source, &other.source}} {
		alike(pair[0], *pair[1])
	}
	if (r.skipped == nil) != (other.skipped == nil) {
		r.skipped = nil
	}
	r.installed, r.enabled = r.installed || other.installed, r.enabled || other.enabled
	r.crdsOnly = r.crdsOnly && other.crdsOnly
	if len(r.patches) == 0 {
		r.patches = other.patches
	}
	if r.refused == "" {
		r.refused = other.refused
	}
	r.needs = alikeNeeds(r.needs, other.needs, m)
	r.values.value = alikeValue(r.values.value, other.values.value, sign)
	r.values.files = alikeValue(r.values.files, other.values.files, sign)
	r.values.sure = surely(r.values.sure, other.values.sure)
	r.values.unknown = append(slices.Clone(r.values.unknown), other.values.unknown...)
	r.values.missing = slices.DeleteFunc(slices.Clone(r.values.missing), func(t text) bool {
		return !slices.ContainsFunc(other.values.missing, func(o text) bool { return o.value == t.value })
	})
	for _, p := range append(slices.Clone(other.partial), m) {
		if !slices.ContainsFunc(r.partial, func(known mark) bool { return known.reason == p.reason }) {
			r.partial = append(slices.Clone(r.partial), p)
		}
	}
}

// alikeNeeds are the needs of two worlds: one that only one has is unknown.
func alikeNeeds(a, b []text, m mark) []text {
	var out []text
	has := func(list []text, t text) bool {
		return slices.ContainsFunc(list, func(o text) bool { return o.value == t.value && (o.unknown == nil) == (t.unknown == nil) })
	}
	for _, t := range a {
		if !has(b, t) {
			t.unknown = &m
		}
		out = append(out, t)
	}
	for _, t := range b {
		if !has(a, t) {
			t.unknown = &m
			out = append(out, t)
		}
	}
	return out
}

// alikeValue is what two values have in common, with a mark where they differ.
func alikeValue(a, b *value, text string) *value {
	switch {
	case a == nil && b == nil, a != nil && b != nil && equalValues(a, b):
		return a
	case isMap(a) && isMap(b):
		out := &value{place: a.place, isMap: true, fields: map[string]*value{}}
		for _, fields := range []map[string]*value{a.fields, b.fields} {
			for key := range fields {
				out.fields[key] = alikeValue(a.fields[key], b.fields[key], text)
			}
		}
		return out
	case a == nil:
		return &value{place: b.place, scalar: text}
	}
	return &value{place: a.place, scalar: text}
}

// surely is what two values that are sure have in common.
func surely(a, b *value) *value {
	switch {
	case a == nil || b == nil:
		return nil
	case isMap(a) && isMap(b):
		out := &value{place: a.place, isMap: true, fields: map[string]*value{}}
		for key, field := range a.fields {
			if both := surely(field, b.fields[key]); both != nil {
				out.fields[key] = both
			}
		}
		return out
	case equalValues(a, b):
		return a
	}
	return nil
}

// inWorlds evaluates a helmfile and those that it calls, in all worlds that its text leaves open.
func (r *reader) inWorlds(file string) ([]*release, error) {
	type evaluated struct {
		releases []*release
		err      error
	}
	budget := r.budget
	all := explore(r.engine, func() evaluated {
		r.budget = budget
		releases, err := r.releases(file, nil, nil, nil, nil)
		return evaluated{releases, err}
	})
	if len(all) == 1 || all[0].result.err != nil {
		return all[0].result.releases, all[0].result.err
	}
	type key struct {
		place
		name  string
		again int
	}
	byKey := map[key][]branch[outcome]{}
	var order []key
	for _, b := range all {
		times := map[key]int{}
		for _, each := range b.result.releases {
			k := key{each.place, each.name.value, 0}
			times[k]++
			k.again = times[k]
			if byKey[k] == nil {
				order = append(order, k)
			}
			byKey[k] = append(byKey[k], branch[outcome]{b.world, outcome{each.inWorld(b.world), each.refusals}})
		}
	}
	var out []*release
	for _, k := range order {
		result := r.combined(byKey[k])
		result.release.refusals = result.refusals
		out = append(out, result.release)
	}
	return withoutBroken(out), nil
}

// withoutBroken leaves out what stands for a file of which nothing can be told, where something
// can in another world.
func withoutBroken(all []*release) []*release {
	if !slices.ContainsFunc(all, func(r *release) bool { return r.unreadable == "" }) {
		return all
	}
	return slices.DeleteFunc(all, func(r *release) bool { return r.unreadable != "" })
}

// inWorld is a release in a world that its file is evaluated in: its own variants know more.
func (r *release) inWorld(w *world) *release {
	out := *r
	out.world = w
	return &out
}

// label names a world in a message: the values of its variables, "" where it is about conditions.
func (w *world) label() string {
	if w == nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(w.variables)) {
		parts = append(parts, name+"="+w.variables[name])
	}
	return strings.Join(parts, ", ")
}

// in gives a variant the cluster that a variable of its world names.
func (g *git) in(variant *release) *release {
	if variant.cluster != "" || variant.world == nil {
		return variant
	}
	for _, name := range slices.Sorted(maps.Keys(variant.world.variables)) {
		value := variant.world.variables[name]
		for _, c := range g.fleet.Clusters {
			if c.Is(value) || slices.Contains(strings.Split(path.Clean(c.Root.Path), "/"), value) {
				out := *variant
				out.cluster = value
				return &out
			}
		}
	}
	return variant
}
