package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// IdentityDrift is bootstrap-identity-drift.
var IdentityDrift = rule.Rule{
	ID:       bootstrap.RuleIdentityDrift,
	Title:    "Flux would install a second release in addition to the bootstrap's",
	Severity: finding.Error,
	Why: `Helm identifies a release by its name and its storage namespace. If both are the same, Flux takes over the
bootstrap's release. Otherwise it installs a second release: nothing manages the objects of the first
release, or the second release refuses to adopt them and fails.

The name is spec.releaseName, or the name of the HelmRelease, prefixed with "NAMESPACE-" if spec.targetNamespace
is set without a releaseName. The namespace is spec.targetNamespace, or the namespace of the HelmRelease. The
storage namespace is spec.storageNamespace, or the namespace of the HelmRelease.`,
	Fix: `Use the same name and namespace in both. With spec.targetNamespace, set spec.releaseName and
spec.storageNamespace too.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleIdentityDrift) },
}
