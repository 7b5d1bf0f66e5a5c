package schemas

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// ProblemKind is the category of a problem.
type ProblemKind string

// The kinds of problems.
const (
	// UnknownField is a field that the kind does not have.
	UnknownField ProblemKind = "unknown field"
	// Invalid is a value that the kind does not allow.
	Invalid ProblemKind = "invalid"
	// Violation is a violation of one of the kind's CEL rules (x-kubernetes-validations).
	Violation ProblemKind = "violation"
	// Unresolved is a question that only the cluster can answer: about a value that Flux substitutes before it applies
	// the object, or about a rule that cannot be evaluated here.
	Unresolved ProblemKind = "unresolved"
	// Exceeded is a check that was skipped because a fixed limit of Fleetwright is exceeded. The message has the reason.
	Exceeded ProblemKind = "exceeded"
)

// Problem is one reason for which the API server would refuse an object.
type Problem struct {
	Kind ProblemKind
	// Path from the object's root: field names (string) and list indexes (int). The last step may
	// not exist in the object, if a field is required.
	Path []any
	// Message describes what is wrong and what is allowed, and names the field.
	Message string
	// Hint describes how to fix it, "" if that is unknown.
	Hint string
	// Required is set if the field at Path is missing.
	Required bool
	// Misspelt is set if the missing field was probably written as an unknown field, which is another problem of the object.
	Misspelt bool
	// Rule is set if the problem is about one of the kind's CEL rules: a violation, or an
	// unresolved rule.
	Rule bool
	// OnlyApply is set if only a server-side apply, which Flux uses, refuses the object, and not a
	// create or an update: a list has a duplicate entry.
	OnlyApply bool
	// blocking is set if the API server stops checking after this problem.
	blocking bool
	// intended is the field that an unknown one was probably intended to be, "" if none is similar.
	intended string
}

// Field returns a path in the notation of kubectl: spec.containers[0].image.
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
	// Hints limits the hints of many objects together; nil means no limit.
	Hints *Hints
	// Literal is set if Flux no longer substitutes anything in the object: ${VAR} is an ordinary value.
	Literal bool
	// Misspelt keeps a missing field among the problems if an unknown field was probably intended to be it.
	Misspelt bool
}

// isSubstituted reports whether Flux's postBuild would change a string.
func isSubstituted(text string) bool { return strings.Contains(text, "${") }

// isEncrypted reports whether SOPS encrypted a value.
func isEncrypted(text string) bool { return strings.HasPrefix(text, "ENC[") }

// mostNames is the maximum number of names that are compared with misspelt ones in a run; after that,
// findings have no such hint.
const mostNames = 200_000

// Hints counts the compared names for the hints about all objects of a run. It is safe for
// concurrent use.
type Hints struct{ names atomic.Int64 }

// suggest returns a hint with the field that was probably intended, or with the existing fields; intended is "" if none
// is similar.
func (h *Hints) suggest(name string, fields func() []string) (hint, intended string) {
	if h != nil && h.names.Load() > mostNames {
		return "", ""
	}
	names := fields()
	if h != nil {
		h.names.Add(int64(len(names)))
	}
	return suggest(name, names)
}

// blocking reports whether the API server would stop checking, or whether the following checks cannot be decided.
func blocking(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.blocking || p.Kind == Unresolved || p.Kind == "" })
}
