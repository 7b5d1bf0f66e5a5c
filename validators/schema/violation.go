package schema

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Violation is the rule schema-cel-violation.
var Violation = rule.Rule{
	ID:       "schema-cel-violation",
	Title:    "a value that violates a validation rule of the kind",
	Severity: finding.Error,
	Why: `The definition of a kind may contain rules across several fields (x-kubernetes-validations, in CEL), for example
that exactly one of chart and chartRef is set, or that a provider matches a URL. The API server evaluates the
rules at every apply, after it sets defaults, and refuses an object that violates one. The Kustomization that
applies it becomes not ready, and none of its other objects are applied.

The rules are evaluated with the API server's own code and limits. As in the API server, a rule is skipped if
the object is invalid in a way that prevents its evaluation (schema-invalid).`,
	Fix: `The message comes from the authors of the kind, and the hint is the rule itself; self is the value that the
message names.

A rule that reads a value with ${VAR}, or a value that SOPS encrypted, is unresolved. So is a rule that uses
functions of a newer Kubernetes.`,
	Run: func(p *rule.Pass) {
		report(p, schemas.Violation)
		reported := map[question]bool{}
		for c := range chosen(p) {
			for _, f := range c.found {
				q := question{finding.Place{File: c.File, Line: f.Line}, f.Message}
				if f.Kind == schemas.Unresolved && f.Rule && !reported[q] {
					reported[q] = true // clusters share bases
					p.Unresolved(q.Place, f.Message)
				}
			}
		}
	},
}
