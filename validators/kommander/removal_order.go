package kommander

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RemovalOrder is kommander-removal-order. Source for the fact that a workspace with clusters cannot be
// deleted: the documentation of DKP 2.2 (Workspaces, Delete a Workspace).
var RemovalOrder = rule.Rule{
	ID:       "kommander-removal-order",
	Title:    "a workspace that is removed together with its clusters",
	Severity: finding.Warning,
	Why: `A workspace can only be deleted after all of its clusters were deleted or detached. If it is removed in the same
change as its KommanderClusters, its deletion is refused until Kommander has detached them. If the Kustomization
that prunes the clusters waits for the one with the workspace, as it must to create them, they are never
removed. Git does not show which clusters were attached in Kommander's user interface.

The rule checks a change since a revision: validate --changed-since REV. It skips objects that Flux does not
prune (kustomize.toolkit.fluxcd.io/prune: disabled, deletionPolicy: Orphan).`,
	Fix: `Remove only the clusters of the workspace first. Remove the workspace in a later change, when they are detached:

  kubectl get kommanderclusters --namespace NAMESPACE`,
	Run: func(p *rule.Pass) {
		for _, r := range platform.Removals(p, workspacesGroup) {
			for _, o := range r.Was.Of(workspace) {
				if r.Gone(o.Identity) {
					clustersIn(p, r, o)
				}
			}
		}
	},
}

// clustersIn reports a workspace that is removed while clusters are in its namespace.
func clustersIn(p *rule.Pass, r platform.Removal, o *reconcile.Object) {
	namespace := o.Text("spec", "namespaceName")
	var clusters []string
	for _, c := range r.Was.Objects {
		if c.Group == coreGroup && c.Kind == attachedCluster && c.Namespace == namespace && (r.Gone(c.Identity) || r.Is.All[c.Identity] != nil) {
			clusters = append(clusters, c.String())
		}
	}
	are := "are"
	switch len(clusters) {
	case 0:
		return
	case 1:
		are = "is"
	}
	r.Report(p, o, finding.Finding{
		Message: fmt.Sprintf("%s is removed while %s %s in it: Kommander deletes only a workspace without clusters", o, platform.List(clusters), are),
		Hint:    "remove the clusters first, and the workspace after they are detached",
	}, fmt.Sprintf("whether %s is removed with clusters in it", o))
}
