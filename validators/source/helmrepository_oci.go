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
	Why: `A HelmRepository of type oci only stores an address: it has no artifact and no readiness, so an expired
credential or a wrong address shows only in each HelmRelease. An OCIRepository is reconciled, can pin a digest
or select by semver, and shares its chart among the releases that reference it. Flux's documentation of
HelmRepository recommends it for charts in registries.

A HelmRepository with the label k0rdent.mirantis.com/managed: "true" is skipped: templates of k0rdent read their
charts from HelmRepositories.`,
	Fix: `Create an OCIRepository for each chart, with the chart's name at the end of the URL and its version in ref.tag,
and reference it in the HelmRelease's spec.chartRef instead of spec.chart. The release is upgraded in place and
keeps its name and history.`,
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
