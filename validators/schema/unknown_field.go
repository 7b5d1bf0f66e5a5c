package schema

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const unknownFieldID = "schema-unknown-field"

// UnknownField is the rule schema-unknown-field.
var UnknownField = rule.Rule{
	ID:       unknownFieldID,
	Title:    "a field that the kind does not have",
	Severity: finding.Error,
	Why: `Flux applies objects on the server's side, where a field that the kind doesn't have is refused: the Kustomization turns not ready and nothing in it is applied any more.

Where a field is dropped instead (by kubectl without strict validation), what it was meant to set silently isn't set: a misspelt prune, suspend or remediation shows only in the incident.

In what a chart renders it is a warning: Helm 4 applies new releases on the server's side, and drops the field from those that were installed before.`,
	Fix: `Take the field's name from the hint, or remove the field. A field that a newer version of the kind has needs that version in apiVersion.

An object that is only a patch belongs in the patches of a kustomization, not in its resources: patches are not validated by themselves.`,
	Run: func(p *rule.Pass) { report(p, schemas.UnknownField) },
}
