package kommander

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RemovalOrder is kommander-removal-order. That a workspace can be deleted only without clusters is said
// by the documentation of DKP 2.2 (Workspaces, Delete a Workspace).
var RemovalOrder = rule.Rule{
	ID:       "kommander-removal-order",
	Title:    "a workspace that is removed together with its clusters",
	Severity: finding.Warning,
	Why: `A workspace can only be deleted when all of its clusters have been deleted or detached. One that goes in the same change
as its KommanderClusters is refused until Kommander is done with those; and where the Kustomization that prunes the clusters
waits for the one with the workspace, as it has to when they are made, they never go. Which attached clusters people have
added in Kommander's interface Git doesn't tell.

Judged is a change since a revision: validate --changed-since REV. What Flux doesn't prune
(kustomize.toolkit.fluxcd.io/prune: disabled, deletionPolicy: Orphan) is left out.`,
	Fix: `Take out the clusters of the workspace alone, and the workspace in another change when they are detached:

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

// clustersIn reports a workspace that is taken out and the clusters that stand in its namespace until then.
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
