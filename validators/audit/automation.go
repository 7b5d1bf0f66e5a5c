package audit

import (
	"cmp"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AutomationBranch is the rule audit-automation-branch.
var AutomationBranch = rule.Rule{
	ID:       "audit-automation-branch",
	Title:    "image automation that pushes to the branch that the cluster follows",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `ImageUpdateAutomation commits a new tag straight to the branch that the cluster follows: what is pushed to the
registry is deployed with no review and no check between, and the branch cannot be protected.`,
	Fix: `Push to a branch of its own (spec.git.push.branch), and open a pull request from it.`,
	Run: func(p *rule.Pass) {
		objects := p.Applied()
		for _, o := range objects {
			if o.Group == fluxapi.ImageGroup && o.Kind == "ImageUpdateAutomation" {
				automationBranch(p, o, sourceOf(objects, o))
			}
		}
	},
}

func automationBranch(p *rule.Pass, o, source *reconcile.Object) {
	checkout := o.Text("spec", "git", "checkout", "ref", "branch")
	if source != nil {
		checkout = cmp.Or(checkout, source.Text("spec", "ref", "branch"))
	}
	push := o.Text("spec", "git", "push", "branch")
	if o.Text("spec", "git", "push", "refspec") != "" || push != "" && push != checkout {
		return
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s pushes to the branch that it checks out: new images are deployed without a review", o),
		Hint:    "push to a branch of its own (spec.git.push.branch)",
	}, "spec", "git", "push", "branch")
}

// sourceOf is the GitRepository that an automation checks out; nil where it isn't known.
func sourceOf(objects []*reconcile.Object, o *reconcile.Object) *reconcile.Object {
	namespace := cmp.Or(o.Text("spec", "sourceRef", "namespace"), o.Namespace)
	for _, s := range objects {
		if s.Group == fluxapi.SourceGroup && s.Kind == "GitRepository" && s.Namespace == namespace && s.Name == o.Text("spec", "sourceRef", "name") &&
			clusterOf(s) == clusterOf(o) {
			return s
		}
	}
	return nil
}

// AutomationKey is the rule audit-automation-key.
var AutomationKey = rule.Rule{
	ID:       "audit-automation-key",
	Title:    "image automation that uses the cluster's sync credentials",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `To push, image automation needs a key that may write. Where it uses the source that Kustomizations are applied
from, the key that reads the repository may write it too, on each cluster that has it: who gets hold of it in one
cluster changes what all of them run.`,
	Fix: `Give the automation a GitRepository of its own, with a Secret whose key may write, and let the key of the sync
only read.`,
	Run: func(p *rule.Pass) {
		objects := p.Applied()
		for _, o := range objects {
			if o.Group != fluxapi.ImageGroup || o.Kind != "ImageUpdateAutomation" {
				continue
			}
			source := sourceOf(objects, o)
			if source == nil || source.Field("spec", "secretRef") == nil {
				continue
			}
			for _, k := range objects {
				if isKustomization(k) && k.Text("spec", "sourceRef", "kind") == "GitRepository" && sourceOf(objects, k) == source {
					p.ReportBuilt(o, finding.Finding{
						Message: fmt.Sprintf("%s pushes with the credentials of %s, which %s is applied from", o, source, k),
						Hint:    "create a separate GitRepository for it, with a key that can write",
					}, "spec", "sourceRef", "name")
					break
				}
			}
		}
	},
}
