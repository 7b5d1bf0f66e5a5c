package helm

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Failed is flux-helm-failed.
var Failed = rule.Rule{
	ID:       "flux-helm-failed",
	Title:    "a HelmRelease whose chart cannot be loaded or rendered",
	Severity: finding.Error,
	Why: `helm-controller loads the chart, renders its templates with the values of the release, and applies
spec.postRenderers to the result. If one of these steps fails, the release is neither installed nor upgraded,
and dependents wait.

The chart is rendered with Helm's own code and template functions, for Kubernetes 1.36 and the kinds that the
cluster's objects define. Rendering is limited in time and memory, executes and fetches nothing, and sees an
empty cluster ("lookup" finds nothing). A failure that may not occur on a real cluster is unresolved. Charts
that are not available locally are reported once for the whole run as unresolved. Available charts are those in the
repository, in sources passed with --source, in folders passed with --charts, and those that "fleetwright fetch" has
locked and downloaded. The message names the template; values from Secrets are hidden.`,
	Fix: `Usually a value that the chart requires is missing, or a value has another type than the template expects. "helm
template" with the values from "fleetwright bootstrap values NAMESPACE/NAME" shows the same error.`,
	Run: func(p *rule.Pass) {
		var open unresolved
		var absent []*reconcile.Release
		for _, c := range p.Clusters() {
			for _, r := range c.Releases {
				switch {
				case r.Failure != nil:
					p.ReportBuilt(r.Object, finding.Finding{Message: failure(r)}, placeOf(r)...)
				case r.Limit != nil: // limit-exceeded reports it
				case r.Unknown != "":
					open.add(r.Object, r.Unknown)
				case r.Chart == "":
					absent = append(absent, r)
				}
			}
		}
		open.report(p)
		missing(p, absent)
	},
}

// placeOf returns the path of the field that a failure is about: the chart's field if the chart cannot be
// loaded.
func placeOf(r *reconcile.Release) []any {
	switch {
	case r.Chart != "":
		return []any{"kind"}
	case r.Object.Field("spec", "chartRef") != nil:
		return []any{"spec", "chartRef", "name"}
	}
	return []any{"spec", "chart", "spec", "chart"}
}

func failure(r *reconcile.Release) string {
	f := r.Failure
	message := oneLine(f.Message)
	at := f.Template
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.Template, f.Line)
	}
	switch {
	case r.Chart == "":
		return "its chart cannot be loaded: " + message
	case f.Chosen:
		return fmt.Sprintf("the chart %s refuses to render: %s (%s)", r.Chart, message, at)
	case at != "":
		return fmt.Sprintf("the chart %s does not render: %s: %s", r.Chart, at, message)
	}
	return fmt.Sprintf("the chart %s does not render: %s", r.Chart, message)
}
