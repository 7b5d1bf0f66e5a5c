package k0rdent

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Singleton is k0rdent-singleton.
var Singleton = rule.Rule{
	ID:       "k0rdent-singleton",
	Title:    "a second Management or AccessManagement, or a removed one",
	Severity: finding.Error,
	Why: `There is one Management and one AccessManagement, both of the name kcm. kcm looks for the Management of that name
wherever a cluster is deployed; its webhook refuses an AccessManagement where there is one already, which kcm itself has made
unless controller.createAccessManagement is off.

The webhooks refuse to delete the Management while there is a Region or a ClusterDeployment, and the AccessManagement while
there is a Management. What is taken out of Git, and pruned by Flux, stays then, and Flux reports the refusal at each
interval. That is judged of a change since a revision: validate --changed-since REV.`,
	Fix: `Call it kcm, and keep it. To have it stay when it is taken out: kustomize.toolkit.fluxcd.io/prune: disabled. To
take k0rdent out: first the clusters and regions, then the Management, which takes the AccessManagement with it.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			for _, kind := range []string{management, accessKind} {
				w.only(p, kind)
			}
		}
		for _, r := range platform.Removals(p, group) {
			for _, kind := range []string{management, accessKind} {
				for _, o := range r.Was.Of(kind) {
					if r.Gone(o.Identity) {
						stays(p, r, o)
					}
				}
			}
		}
	},
}

// only reports the Managements or AccessManagements that aren't the one.
func (w *world) only(p *rule.Pass, kind string) {
	for _, o := range w.Of(kind) {
		if o.Name == "kcm" || platform.Unknown(o.Name) {
			continue
		}
		f := finding.Finding{Message: fmt.Sprintf("%s is not named kcm: it never deploys a cluster", o), Hint: "name it kcm"}
		if kind == accessKind {
			if len(w.Of(kind)) == 1 && w.off("createAccessManagement") {
				continue
			}
			f.Message = fmt.Sprintf("kcm refuses %s: another AccessManagement exists", o)
			f.Hint = "move its rules to the one named kcm"
		}
		p.ReportBuilt(o, f, "metadata", "name")
	}
}

// stays reports an object that is taken out, and that kcm doesn't let Flux delete.
func stays(p *rule.Pass, r platform.Removal, gone *reconcile.Object) {
	needed := r.Is.Of(management)
	if gone.Kind == management {
		needed = slices.Concat(r.Is.Of(region), r.Is.Of(clusterKind))
	}
	if len(needed) == 0 {
		return
	}
	r.Report(p, gone, finding.Finding{
		Message: fmt.Sprintf("%s is removed, and kcm refuses to delete it while %s exists", gone, needed[0]),
		Hint:    "restore it, or annotate it with kustomize.toolkit.fluxcd.io/prune: disabled before you remove it",
	}, fmt.Sprintf("whether %s can be removed", gone))
}
