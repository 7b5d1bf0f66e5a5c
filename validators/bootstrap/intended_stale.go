package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// IntendedStale is bootstrap-intended-stale.
var IntendedStale = rule.Rule{
	ID:       bootstrap.RuleIntendedStale,
	Title:    "an intended difference from the bootstrap that no longer exists",
	Severity: finding.Warning,
	Why: `The annotation fleetwright.dev/bootstrap-intended of a HelmRelease lists the fields in which the bootstrap may
differ, each with a reason: "FIELD: reason; FIELD: reason". If the field no longer differs, the entry hides its
next, unintended drift.`,
	Fix: `Remove the entry from the annotation.`,
	Run: func(p *rule.Pass) {
		c := comparison.Of(p)
		if c.err != nil || c.report == nil {
			return // the other rules report the reason
		}
		for _, d := range c.report.Stale {
			if !p.InCluster(d.Cluster) {
				continue
			}
			o := d.Object()
			p.Report(finding.Finding{Place: finding.Place{File: d.File, Line: d.Line, Column: d.Column}, Cluster: d.Cluster,
				Object:  finding.Object{APIVersion: o.APIVersion, Kind: "HelmRelease", Namespace: o.Namespace, Name: o.Name},
				Message: d.Message, Hint: "remove it from the annotation " + bootstrap.IntendedAnnotation})
		}
	},
}
