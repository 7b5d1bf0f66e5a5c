package flux

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/ownership"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PathOverlap is flux-path-overlap.
var PathOverlap = rule.Rule{
	ID:       "flux-path-overlap",
	Title:    "two Kustomizations that apply the same files",
	Severity: finding.Error,
	Why: `A Kustomization applies all manifests below its path, unless a kustomization.yaml lists less. One whose path
is within another's, or the same, applies the same objects once more: each writes over the other's on every
reconciliation, with its own labels, patches and variables, and when one of the two is removed the objects are deleted
if that one happened to apply them last (fluxcd/kustomize-controller#1724).

Only what both really apply counts. A folder that the outer one doesn't list is no overlap, nor are two Kustomizations
of one path whose variables, prefixes or target namespaces give the objects other names.`,
	Fix: `Move the folders beside one another, or give the outer one a kustomization.yaml that leaves the inner one out.`,
	Run: func(p *rule.Pass) {
		owners := ownership.OfClusters.Of(p)
		budget := newBudget()
		for _, c := range p.Clusters() {
			for _, s := range owners[c].Shared {
				if s.Overlap {
					reportOverlap(p, budget, s)
				}
			}
		}
	},
}

func reportOverlap(p *rule.Pass, budget *budget, s *ownership.Shared) {
	inner, outer := s.Second, s.First
	if len(inner.Dir) < len(outer.Dir) || inner.Object == nil {
		inner, outer = outer, inner
	}
	object := s.Pairs[0][0]
	message := fmt.Sprintf("Kustomization %s applies the same objects as %s: %s", inner, outer, object)
	if more := len(s.Pairs) - 1; more > 0 {
		message += fmt.Sprintf(" and %s", plural(more, "more object"))
	}
	f := finding.Finding{Message: message, Hint: fmt.Sprintf("the path of %s is %q", outer, "./"+outer.Dir)}
	if inner.Object != nil {
		f = budget.locate(p.Repo, inner.Object, inner.Spec.Path, "spec", "path").in(f)
	}
	reportOn(p, inner, f)
}
