package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// OperatorMissing is bootstrap-operator-missing.
var OperatorMissing = rule.Rule{
	ID:       bootstrap.RuleOperatorMissing,
	Title:    "a bootstrap creates a FluxInstance without the Flux Operator",
	Severity: finding.Warning,
	Why: `The Flux Operator defines the kind FluxInstance, and installs Flux for a FluxInstance. A bootstrap with the chart
flux-instance, or with a hook that applies a FluxInstance, fails on a new cluster without the operator, because the kind
does not exist. A HelmRelease of the operator does not help, since the Flux that would install it does not run yet.

Nothing is reported if the operator may come from elsewhere: from a release of any bootstrap in the repository, from
definitions or a kustomization, or from a script or another file that mentions flux-operator.`,
	Fix: `Add a release of the chart flux-operator to the bootstrap, and name it in the needs of flux-instance.`,
	Run: func(p *rule.Pass) { orders(p, bootstrap.RuleOperatorMissing) },
}
