package templates

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// A path with an environment variable has as many meanings as there are matching files in the repository. Each possible
// evaluation is a set of assumptions: a result that is the same under all of them is certain.

// Assumptions are the values of environment variables that an evaluation assumes. They are immutable; nil contains none.
type Assumptions struct {
	Variables map[string]string
	// Because are the unknown values that required an assumption, in order.
	Because []located.Unknown
}

// fork is a point at which an evaluation needs the value of another environment variable.
type fork struct {
	mark   located.Unknown
	values []string // the possible ones
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
	var all []*Assumptions
	for _, value := range f.values {
		next := &Assumptions{Variables: map[string]string{}, Because: []located.Unknown{f.mark}}
		if w != nil {
			maps.Copy(next.Variables, w.Variables)
			next.Because = append(slices.Clone(w.Because), f.mark)
		}
		next.Variables[f.mark.Variable] = value
		all = append(all, next)
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

// Label returns the assumptions for a message.
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
