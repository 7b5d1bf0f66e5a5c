package source

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// HelmRepositoryOCI is the rule source-helmrepository-oci.
var HelmRepositoryOCI = rule.Rule{
	ID:       "source-helmrepository-oci",
	Title:    "a HelmRepository of type oci instead of an OCIRepository",
	Severity: finding.Info,
	Why: `A HelmRepository of type oci is no source: it holds an address, makes no artifact, and is never ready
or not ready, so that an expired credential or a wrong address shows only in each HelmRelease. An OCIRepository
takes part in reconciliation, pins by digest, selects by semver, and its chart is shared by the releases that
name it. Flux's documentation of HelmRepository points to it for charts in registries.

One with the label k0rdent.mirantis.com/managed: "true" is left alone: the templates of k0rdent take their charts from
HelmRepositories.`,
	Fix: `Write an OCIRepository for each chart, with the chart's name at the end of the URL and its version in
ref.tag, and name it in the HelmRelease's spec.chartRef in place of spec.chart. The release is upgraded in
place: its name and its history stay.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			if isSource(o, helmRepository) && o.Text("spec", "type") == "oci" && o.Text("metadata", "labels", "k0rdent.mirantis.com/managed") != "true" {
				p.ReportBuilt(o, finding.Finding{
					Message: fmt.Sprintf("%s has type oci: Flux creates no artifact for it and never reports it as not ready", o),
					Hint:    "create an OCIRepository for the chart and reference it in the HelmRelease's spec.chartRef",
				}, "spec", "type")
			}
		}
	},
}
