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
	Why: `helm-controller merges the ConfigMaps and Secrets of spec.valuesFrom under spec.values. A bootstrap that reads
spec.values alone installs the chart without them, and Flux changes that in its first upgrade.

What can be read is compared: ConfigMaps and Secrets in Git, generated ones too, at the key and the targetPath that
the reference names. What is encrypted, or not in Git, is unresolved.`,
	Fix: `Give the bootstrap the same values file (values: [../kubernetes/apps/a/app/values.yaml]), or move the values
into spec.values.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleValuesFrom) },
}
