package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ValuesFrom is bootstrap-values-from.
var ValuesFrom = rule.Rule{
	ID:       bootstrap.RuleValuesFrom,
	Title:    "valuesFrom has values that the bootstrap does not read",
	Severity: finding.Error,
	Why: `helm-controller merges spec.values over the ConfigMaps and Secrets of spec.valuesFrom. A bootstrap that reads
only spec.values installs the chart without them, and Flux changes the release in its first upgrade.

The rule compares ConfigMaps and Secrets in Git, including generated ones, with the key and targetPath of the
reference. Values that are encrypted, or not in Git, are unresolved.`,
	Fix: `Add the same values file to the bootstrap (values: [../kubernetes/apps/a/app/values.yaml]), or move the values
to spec.values.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleValuesFrom) },
}
