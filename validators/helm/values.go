package helm

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Values is flux-helm-values.
var Values = rule.Rule{
	ID:       "flux-helm-values",
	Title:    "values that the chart's schema refuses",
	Severity: finding.Error,
	Why: `A chart may contain a values.schema.json. Helm checks the values against it before it renders the chart,
including the schemas of dependencies. If the values do not match, helm-controller neither installs nor upgrades
the release.

The values are merged as in helm-controller: the chart's own values, then valuesFrom (ConfigMaps and Secrets
among the cluster's objects), then spec.values. Only charts that are available locally are checked: those in the
repository, in a source passed with --source, in a folder passed with --charts, or fetched. If a Secret is encrypted with
SOPS, the check is unresolved. The message never shows a value.`,
	Fix: `Correct the value according to the chart's README or values.yaml. If the schema is wrong,
spec.install.disableSchemaValidation (and the same field of upgrade) skips the check.`,
	Run: func(p *rule.Pass) {
		var open unresolved
		for _, c := range p.Clusters() {
			for _, r := range c.Releases {
				if r.Unchecked != "" {
					open.add(r.Object, r.Unchecked)
				}
				for _, problem := range r.Problems {
					message := fmt.Sprintf("the chart %s refuses its values: %s", r.Chart, oneLine(problem.Message))
					if len(problem.Path) > 0 {
						message = fmt.Sprintf("the chart %s refuses its value %s: %s", r.Chart, schemas.Field(problem.Path), oneLine(problem.Message))
					}
					p.ReportBuilt(r.Object, finding.Finding{Place: r.ValuePosition(problem.Path...), Message: message})
				}
			}
		}
		open.report(p)
	},
}
