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
	Why: `A Kustomization applies all manifests below its path, unless a kustomization.yaml lists fewer. If the path of
one Kustomization is the path of another one, or within it, both apply the same objects. Each overwrites the
other at every reconciliation, with its own labels, patches and variables. When one of them is removed, it
deletes the objects if it was the last to apply them (fluxcd/kustomize-controller#1724).

Only objects that both really apply count. There is no overlap if the outer kustomization does not list the inner folder,
or if variables, prefixes or target namespaces of two Kustomizations of the same path lead to different names of the
objects.`,
	Fix: `Move the folders beside each other, or add a kustomization.yaml to the outer folder that does not list the inner
one.`,
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
		f = f.At(budget.locate(p.Repo, inner.Object, inner.Spec.Path, "spec", "path"))
	}
	reportOn(p, inner, f)
}
