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
	Why: `Flux upgrades the release that the bootstrap installed to a chart with another name. Objects that only the first
chart has are deleted, and objects that the charts name differently are created a second time.

Only the name of the chart is compared. The same chart from another registry, mirror or protocol is not a
difference.`,
	Fix: `Use the same chart in both, or let the helmfile read it from the source in Git:

    chart: '{{ readFile "../kubernetes/apps/a/app/ocirepository.yaml" | fromYaml | get "spec.url" }}'`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleChartDrift) },
}
