package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Overlay is bootstrap-overlay.
var Overlay = rule.Rule{
	ID:       bootstrap.RuleOverlay,
	Title:    "a kustomize patch changes values that the bootstrap has unpatched",
	Severity: finding.Error,
	Why: `The bootstrap reads the HelmRelease's file, or a copy of it. Flux applies what kustomize makes of it: after
the patches of overlays and components, and of the Flux Kustomizations above. The patched value is what the
cluster will run with, and the bootstrap starts it with the other.`,
	Fix: `Move what the patch sets into the HelmRelease. Where clusters differ, give each a HelmRelease file of its own
that its bootstrap can read.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleOverlay) },
}
