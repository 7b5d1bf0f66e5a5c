package templates

import (
	"github.com/fleetwright/fleetwright/internal/located"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A condition on what cannot be known here, such as the environment, has two outcomes, and a
// path with an environment variable in it as many as files of the repository fit. Each way that
// an evaluation can go is a set of assumptions: what is the same under all of them is certain.

// Assumptions is what an evaluation takes for granted. It is never changed; nil takes nothing.
type Assumptions struct {
	// Variables are the values of environment variables, and holds says which conditions do.
	Variables map[string]string
	holds     map[located.Unknown]bool
	// Because are the marks that needed an assumption, in their order.
	Because []located.Unknown
}

// fork is where an evaluation needs a further assumption: on the value of an environment variable, or on a condition.
type fork struct {
	mark   located.Unknown
	values []string // of the variable; nil for a condition
}

// Bounds: a bootstrap in use has one or two variables, with a value for each cluster.
const (
	maxWays   = 24
	maxValues = 12
	// maxExplored is how often anything is evaluated again under other assumptions, in all
	// bootstraps of a repository.
	maxExplored = 600
)

// options are the assumptions that are possible at a fork, each with those made before.
func (w *Assumptions) options(f *fork) []*Assumptions {
	next := func() *Assumptions {
		out := &Assumptions{Variables: map[string]string{}, holds: map[located.Unknown]bool{}, Because: []located.Unknown{f.mark}}
		if w != nil {
			maps.Copy(out.Variables, w.Variables)
			maps.Copy(out.holds, w.holds)
			out.Because = append(slices.Clone(w.Because), f.mark)
		}
		return out
	}
	var all []*Assumptions
	if f.values == nil {
		for _, holds := range []bool{true, false} {
			with := next()
			with.holds[f.mark] = holds
			all = append(all, with)
		}
	}
	for _, value := range f.values {
		with := next()
		with.Variables[f.mark.Variable] = value
		all = append(all, with)
	}
	return all
}

// variable is the value that is assumed of an environment variable.
func (e *Engine) variable(name string) (value string, known bool) {
	if e.assumptions == nil {
		return "", false
	}
	value, known = e.assumptions.Variables[name]
	return value, known
}

// holds says whether the condition that a mark stands for is assumed to hold. Where nothing is
// assumed, the evaluation needs a further assumption.
func (e *Engine) holds(m located.Unknown) (holds, known bool) {
	plain := m
	plain.Negated = false
	if e.assumptions != nil {
		holds, known = e.assumptions.holds[plain]
	}
	if !known && e.fork == nil && m.Missing == "" {
		e.fork = &fork{mark: plain}
	}
	return holds != m.Negated, known
}

// askVariable asks for an assumption on the environment variable that decides which of some files
// a path names: the files are those that fit the path.
func (e *Engine) askVariable(pattern string, found []string) {
	within := anyMark.FindAllString(pattern, -1)
	if len(within) == 0 || e.fork != nil {
		return
	}
	m, _ := e.Marked(within[0])
	if m.Variable == "" || slices.ContainsFunc(within, func(s string) bool { return s != within[0] }) {
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

// Branch is what an evaluation comes to under some assumptions.
type Branch[T any] struct {
	Assumptions *Assumptions
	Result      T
}

// Explore evaluates under all assumptions that what is unknown leaves open. Where these are too many,
// there is one branch, in which it stays open. The evaluation must be repeatable.
func Explore[T any](e *Engine, evaluate func() T) []Branch[T] {
	outer, asked := e.assumptions, e.fork
	defer func() { e.assumptions, e.fork = outer, asked }()
	var done []Branch[T]
	var undecided *T
	for open := []*Assumptions{outer}; len(open) > 0; {
		e.assumptions, e.fork = open[len(open)-1], nil
		open = open[:len(open)-1]
		result := evaluate()
		if undecided == nil {
			undecided = &result
		}
		if e.fork == nil {
			done = append(done, Branch[T]{e.assumptions, result})
			continue
		}
		next := e.assumptions.options(e.fork)
		e.explored += len(next)
		if len(done)+len(open)+len(next) > maxWays || e.explored > maxExplored {
			return []Branch[T]{{outer, *undecided}}
		}
		slices.Reverse(next)
		open = append(open, next...)
	}
	return done
}

// Label names the assumptions in a message: the values of its variables, "" where it is about conditions.
func (w *Assumptions) Label() string {
	if w == nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(w.Variables)) {
		parts = append(parts, name+"="+w.Variables[name])
	}
	return strings.Join(parts, ", ")
}
