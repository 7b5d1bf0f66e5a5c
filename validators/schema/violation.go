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
	Why: `A kind's definition may hold rules over several fields (x-kubernetes-validations, in CEL): that exactly one of chart and chartRef is set, that a provider fits a URL. The API server evaluates them on every apply, after the defaults are filled in, and refuses the object that breaks one. The Kustomization that applies it turns not ready, and none of its other objects are applied either.

The rules are evaluated with the API server's own code and limits. As there, they are left out where the object is invalid in a way that the rules can't be held against (schema-invalid).`,
	Fix: `The message is the one of the kind's authors, and the hint is the rule itself: self is the value that the message names.

Whether a rule holds that reads a value with ${VAR}, or one that SOPS encrypted, is unresolved. So is a rule that a newer Kubernetes has functions for.`,
	Run: func(p *rule.Pass) {
		report(p, schemas.Violation)
		told := map[question]bool{}
		for c := range chosen(p) {
			for _, f := range c.found {
				q := question{c.file, f.line, f.Message}
				if f.Kind == schemas.Unresolved && f.Rule && !told[q] {
					told[q] = true // clusters share bases
					p.Unresolved(c.file, f.line, f.Message)
				}
			}
		}
	},
}
