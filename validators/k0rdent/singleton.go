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
	Why: `There is one Management and one AccessManagement, and both are named kcm. kcm looks for the Management with that
name whenever it deploys a cluster. Its webhook refuses a second AccessManagement; kcm creates the first one
itself, unless controller.createAccessManagement is off.

The webhooks refuse to delete the Management while a Region or ClusterDeployment exists, and the
AccessManagement while a Management exists. If one of them is removed from Git, Flux cannot prune it and reports
the refusal at every interval. That is checked for a change since a revision: validate --changed-since REV.`,
	Fix: `Name it kcm, and keep it. To remove it from Git but keep it in the cluster, annotate it with
kustomize.toolkit.fluxcd.io/prune: disabled. To uninstall k0rdent, remove the clusters and regions first, then
the Management, which deletes the AccessManagement.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			for _, kind := range []string{management, accessKind} {
				w.only(p, kind)
			}
		}
		for _, r := range platform.Removals(p, group) {
			for _, kind := range []string{management, accessKind} {
				for _, o := range r.Was.Of(kind) {
					if r.Gone(o.Identity) {
						reportUndeletable(p, r, o)
					}
				}
			}
		}
	},
}

// only reports the Managements or AccessManagements with another name than kcm.
func (w *managementCluster) only(p *rule.Pass, kind string) {
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

// reportUndeletable reports a removed object that kcm does not let Flux delete.
func reportUndeletable(p *rule.Pass, r platform.Removal, gone *reconcile.Object) {
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
