package audit

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ClusterSize is the rule audit-cluster-size.
var ClusterSize = rule.Rule{
	ID:       "audit-cluster-size",
	Title:    "a FluxInstance without a cluster size",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `spec.cluster.size sets the concurrency of Flux's controllers and their CPU and memory limits. Without it, the
controllers have the defaults of a small installation: in a cluster with hundreds of releases, reconciliation is
slow, or the controllers are killed for their memory use.`,
	Fix: `Set spec.cluster.size to small, medium or large. Source: https://fluxoperator.dev/docs/crd/fluxinstance/`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			at := []any{"spec"}
			switch {
			case o.Group == fluxapi.OperatorGroup && o.Kind == "FluxInstance":
			case isRelease(o) && o.Field("spec", "values", "instance") != nil:
				at = []any{"spec", "values", "instance"}
			default:
				continue
			}
			path := append(at, "cluster", "size")
			if o.Field(path...) == nil {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s: cluster.size is not set, so Flux's controllers have the defaults of a small cluster", o),
					Hint: orSpecified(p, "set spec.cluster.size to small, medium or large", "spec.flux.size of the Fleet")}, path...)
			}
		}
	},
}
