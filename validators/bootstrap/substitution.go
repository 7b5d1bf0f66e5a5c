package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Substitution is bootstrap-substitution.
var Substitution = rule.Rule{
	ID:       bootstrap.RuleSubstitution,
	Title:    "a ${VAR} that Flux substitutes is passed to Helm unchanged",
	Severity: finding.Error,
	Why: `Flux replaces variables in what a Kustomization with postBuild applies, and a bootstrap that reads the
HelmRelease, or its values file, from Git reads them raw. Helm then installs the chart with the text "${VAR}": a
hostname, an address or a number that is none.

It differs whatever the variable's value is. Where a HelmRelease is exempt from substitution, ${VAR} is text
like any other.`,
	Fix: `Write the value itself, or move what is substituted into a Secret or ConfigMap that the chart reads. A
HelmRelease whose ${VAR} is for the chart needs the annotation kustomize.toolkit.fluxcd.io/substitute: disabled.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleSubstitution) },
}
