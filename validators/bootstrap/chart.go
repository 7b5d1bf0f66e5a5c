package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ChartDrift is bootstrap-chart-drift.
var ChartDrift = rule.Rule{
	ID:       bootstrap.RuleChartDrift,
	Title:    "the bootstrap installs a different chart than Git",
	Severity: finding.Error,
	Why: `Flux upgrades the release that the bootstrap installed to a chart of another name: what the first chart
had and the second doesn't is deleted, and what both name differently is made twice.

Only the chart's name counts. The same chart from another registry, mirror or protocol is no difference.`,
	Fix: `Name the same chart in both, or let the helmfile read it from the source in Git:

    chart: '{{ readFile "../kubernetes/apps/a/app/ocirepository.yaml" | fromYaml | get "spec.url" }}'`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleChartDrift) },
}
