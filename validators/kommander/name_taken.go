package kommander

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// NameTaken is kommander-name-taken.
var NameTaken = rule.Rule{
	ID:       "kommander-name-taken",
	Title:    "an AppDeployment with the name of a Kustomization",
	Severity: finding.Error,
	Why: `For an AppDeployment, Kommander creates a Kustomization with the same name in the same namespace. If Git has a
Kustomization with that name there, both write it: Flux and Kommander overwrite each other's changes, and each
prunes the objects that the other applied.`,
	Fix: `Rename one of them. For the Kustomization in Git, <name>-config is a good name.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			for _, o := range w.Of(deployment) {
				namespace, name := v1alpha1.KommanderKustomization(o.Namespace, o.Name)
				k := w.All[reconcile.Identity{Group: fluxapi.KustomizeGroup, Kind: "Kustomization", Namespace: namespace, Name: name}]
				if k == nil || o.Namespace == "" {
					continue
				}
				p.ReportBuilt(o, finding.Finding{
					Message: fmt.Sprintf("%s has the same name as %s at %s:%d: Kommander creates a Kustomization of this name for it", o, k, k.File, k.Line),
					Hint:    "rename one of them",
				}, "metadata", "name")
			}
		}
	},
}
