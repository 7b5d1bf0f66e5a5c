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
	Why: `Flux uses server-side apply, which refuses an unknown field: the Kustomization becomes not ready, and none of its
objects are applied any more.

If the field is dropped instead (by kubectl without strict validation), the setting is silently missing: a
misspelt prune, suspend or remediation is noticed only during an incident.

In an object that a chart renders, the finding is a warning: Helm 4 uses server-side apply for new releases, and
drops the field in releases that were installed before.`,
	Fix: `Use the name in the hint, or remove the field. A field of a newer version of the kind needs that version in
apiVersion.

An object that is only a patch belongs in the patches of a kustomization, not in its resources: patches are not
validated by themselves.`,
	Run: func(p *rule.Pass) { report(p, schemas.UnknownField) },
}
