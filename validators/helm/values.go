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
	Why: `A chart may come with a values.schema.json. Helm checks the values against it, those of the chart's
dependencies included, before it renders anything: where they don't fit, helm-controller neither installs nor upgrades
the release.

The values are put together as helm-controller does it: the chart's own, those of valuesFrom (ConfigMaps and Secrets
among the cluster's objects), then spec.values. Only charts at hand are looked at: those in the repository or in a
source given with --source, and those in a folder given with --charts. Secrets that SOPS encrypts leave it undecided.
The message never shows a value.`,
	Fix: `Write the value as the chart's README or values.yaml says. spec.install.disableSchemaValidation (and the same of
upgrade) skips the check where the schema is wrong.`,
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
					f := finding.Finding{Message: message}
					f.File, f.Line, f.Column = r.ValuePosition(problem.Path...)
					p.ReportBuilt(r.Object, f)
				}
			}
		}
		open.report(p)
	},
}
