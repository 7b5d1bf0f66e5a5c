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
	Why: `helm-controller loads the chart, renders its templates with the release's values, and runs what
spec.postRenderers says on the result. Where one of them fails, nothing of the release is installed or upgraded, and
what depends on it waits.

The chart is rendered with Helm's own code and the template functions that Helm has, for Kubernetes 1.36, with the
kinds that the cluster's objects tell of. It runs within limits, executes and fetches nothing, and sees an empty
cluster ("lookup" finds nothing). A failure that a real cluster may not have is unresolved. So is, once for the whole
run, that charts are not at hand: charts in the repository and in sources given with --source are, and those in
folders given with --charts. The message names the template; values out of Secrets are hidden.`,
	Fix: `Often a value is missing that the chart needs, or one has another type than its template expects. "helm template"
with the values that "fleetwright bootstrap values NAMESPACE/NAME" prints shows the same.`,
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

// placeOf is the field that a failure is about: the chart's where that cannot be loaded.
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
		return fmt.Sprintf("the chart %s doesn't render: %s: %s", r.Chart, at, message)
	}
	return fmt.Sprintf("the chart %s doesn't render: %s", r.Chart, message)
}
