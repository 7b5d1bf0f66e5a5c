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
	Why: `Flux replaces variables in the objects of a Kustomization with postBuild. A bootstrap that reads the HelmRelease
or its values file from Git gets them without substitution. Helm then installs the chart with the literal string
"${VAR}" as a hostname, address or number.

Git and the bootstrap differ, whatever the variable's value is. In a HelmRelease that is exempt from substitution, ${VAR}
is an ordinary string.`,
	Fix: `Write the value itself, or move it into a Secret or ConfigMap that the chart reads. If ${VAR} is meant for the
chart, annotate the HelmRelease with kustomize.toolkit.fluxcd.io/substitute: disabled.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleSubstitution) },
}
