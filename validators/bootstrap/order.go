package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Order is bootstrap-order.
var Order = rule.Rule{
	ID:       bootstrap.RuleOrder,
	Title:    "bootstrap releases without an order, or with another order than in Git",
	Severity: finding.Error,
	Why: `helmfile installs releases side by side unless one needs another, and stops at needs that form a circle or
name a release that the file doesn't have: no new cluster can be built.

A HelmRelease that depends on another (spec.dependsOn) waits for it under Flux. Where both are bootstrapped and the
release doesn't need the other, it may come first; that is a warning.`,
	Fix: `Name what a release needs as NAMESPACE/NAME of a release in the same file, and leave no circle.`,
	Run: func(p *rule.Pass) {
		in := &sources{repo: p.Repo}
		for _, o := range orderProblems(p) {
			severity := finding.Error
			if !o.Refused {
				severity = finding.Warning
			}
			p.Report(finding.Finding{File: o.File, Line: o.Line, Column: in.column(o.File, o.Line, o.Release), Severity: severity,
				Cluster: o.Cluster, Message: o.Message, Hint: o.Hint})
		}
	},
}
