package schemas

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// ProblemKind says what sort of problem it is.
type ProblemKind string

// The kinds of problems.
const (
	// UnknownField is a field that the kind doesn't have.
	UnknownField ProblemKind = "unknown field"
	// Invalid is a value that the kind doesn't allow.
	Invalid ProblemKind = "invalid"
	// Violation is a breach of one of the kind's rules in CEL
	// (x-kubernetes-validations).
	Violation ProblemKind = "violation"
	// Unresolved is what only the cluster knows: a value that Flux substitutes
	// before it is applied, a rule that cannot be evaluated here.
	Unresolved ProblemKind = "unresolved"
	// Exceeded is what is not judged, since it goes beyond a fixed limit of Fleetwright's. The
	// message says why.
	Exceeded ProblemKind = "exceeded"
)

// Problem is one thing that the API server would refuse.
type Problem struct {
	Kind ProblemKind
	// Path from the object's root: field names (string) and list indexes (int).
	// Its last step may be missing in the object, where a field is required.
	Path []any
	// Message says what is wrong and what is allowed, the field named.
	Message string
	// Hint says how to fix it, "" where that isn't known.
	Hint string
	// Required says that the field at Path is missing.
	Required bool
	// Misspelt says of such a field that an unknown one, which is another problem of the object,
	// was meant to be it.
	Misspelt bool
	// Rule says that the problem is about one of the kind's rules in CEL: a
	// violation, or one that is unresolved.
	Rule bool
	// OnlyApply says that a server-side apply, which is how Flux applies, refuses
	// what a create or an update takes: an entry of a list given twice.
	OnlyApply bool
	// blocking says that the API server looks no further.
	blocking bool
	// meant is the field that an unknown one was meant to be, "" where none comes near.
	meant string
}

// Field spells a path as kubectl does: spec.containers[0].image.
func Field(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if strings.ContainsAny(step, "./[]") {
				fmt.Fprintf(&b, "[%q]", step)
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// Options of a validation.
type Options struct {
	// Hints are those that many objects share; nil bounds none.
	Hints *Hints
	// Literal says that Flux substitutes nothing in the object any more: ${VAR}
	// is a value like others.
	Literal bool
	// Misspelt keeps a missing field among the problems where an unknown one was meant to be it.
	Misspelt bool
}

// isSubstituted says whether Flux's postBuild would change a text.
func isSubstituted(text string) bool { return strings.Contains(text, "${") }

// isEncrypted says whether SOPS encrypted a value.
func isEncrypted(text string) bool { return strings.HasPrefix(text, "ENC[") }

// mostNames are the names that are compared with misspelt ones in a run, after which
// findings have no such hint.
const mostNames = 200_000

// Hints counts the names that the hints about all objects of a run are chosen from. It is safe for
// concurrent use.
type Hints struct{ names atomic.Int64 }

// suggest names the field that was meant, or those that there are, as a hint; meant is "" where
// none comes near.
func (h *Hints) suggest(name string, fields func() []string) (hint, meant string) {
	if h != nil && h.names.Load() > mostNames {
		return "", ""
	}
	names := fields()
	if h != nil {
		h.names.Add(int64(len(names)))
	}
	return suggest(name, names)
}

// blocking says whether the API server would look no further, or cannot be
// followed further.
func blocking(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.blocking || p.Kind == Unresolved || p.Kind == "" })
}
