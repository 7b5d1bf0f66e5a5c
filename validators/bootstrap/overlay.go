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
	Why: `The bootstrap reads the file of the HelmRelease, or a copy of it. Flux applies the HelmRelease after the patches
of overlays, components and the Flux Kustomizations. The cluster then runs with the patched value, but the
bootstrap installs the unpatched one.`,
	Fix: `Set the patched value in the HelmRelease itself. If clusters differ, create a HelmRelease file for each cluster
that its bootstrap can read.`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleOverlay) },
}
