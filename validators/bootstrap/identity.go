package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// IdentityDrift is bootstrap-identity-drift.
var IdentityDrift = rule.Rule{
	ID:       bootstrap.RuleIdentityDrift,
	Title:    "Flux would install a second release beside the bootstrap's",
	Severity: finding.Error,
	Why: `Helm knows a release by its name and the namespace that it is stored in. Flux takes the bootstrap's release
over when both are the same, and installs a second one beside it otherwise: objects of the first are then
owned by nobody, or the second refuses to adopt them and fails.

The name is spec.releaseName, or the HelmRelease's own, with "NAMESPACE-" before it when
spec.targetNamespace is set without a releaseName. The namespace is spec.targetNamespace, or the one that the
HelmRelease is applied to; the storage namespace is spec.storageNamespace, or the HelmRelease's.`,
	Fix: `Use the same name and namespace in both. With spec.targetNamespace, set spec.releaseName and
spec.storageNamespace too.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleIdentityDrift) },
}
