package templates

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// A condition on an unknown value, such as the environment, has two outcomes. A path with an environment
// variable has as many as there are matching files in the repository. Each possible evaluation is a set of
// assumptions: a result that is the same under all of them is certain.

// Assumptions are the assumptions of an evaluation. They are immutable; nil contains no assumption.
type Assumptions struct {
	// Variables are the values of environment variables; holds contains the outcomes of conditions.
	Variables map[string]string
	holds     map[located.Unknown]bool
	// Because are the unknown values that required an assumption, in order.
	Because []located.Unknown
}

// fork is a point at which an evaluation needs another assumption: the value of an environment variable, or the outcome of a
// condition.
type fork struct {
	mark   located.Unknown
	values []string // possible values of the variable; nil for a condition
}

// Limits: real bootstraps have one or two variables, with a value for each cluster.
const (
	maxWays   = 24
	maxValues = 12
	// maxExplored is the maximum number of repeated evaluations with other assumptions, for all
	// bootstraps of a repository together.
	maxExplored = 600
)

// options returns the possible assumptions at a fork, each added to the existing ones.
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

// variable returns the assumed value of an environment variable.
func (e *Engine) variable(name string) (value string, known bool) {
	if e.assumptions == nil {
		return "", false
	}
	value, known = e.assumptions.Variables[name]
	return value, known
}

// holds reports whether an unknown condition is assumed to be true. If there is no
// assumption, the evaluation needs a fork.
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

// askVariable creates a fork for the environment variable that decides which of several files
// a path means; found are the files that match the path.
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

// Branch is the result of an evaluation under a set of assumptions.
type Branch[T any] struct {
	Assumptions *Assumptions
	Result      T
}

// Explore evaluates under all possible assumptions about unknown values. If there are too many,
// it returns one branch without assumptions. The evaluation must be repeatable.
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

// Label returns the assumptions for a message: the values of variables, "" if they are only about conditions.
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
