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
	Why: `An ImageUpdateAutomation commits new tags to the branch that the cluster follows. Every image that somebody
pushes to the registry is therefore deployed without a review or a check, and the branch cannot be protected.`,
	Fix: `Push to a separate branch (spec.git.push.branch), and open a pull request from it.`,
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

// sourceOf returns the GitRepository that an ImageUpdateAutomation checks out; nil if it is unknown.
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
	Why: `To push, image automation needs a key with write access. If it uses the source that Kustomizations are applied
from, the key with which each cluster reads the repository can also write to it. Whoever gets that key in one
cluster can change what all clusters run.`,
	Fix: `Create a separate GitRepository for the automation, with a Secret whose key can write, and configure a
read-only key for the sync.`,
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
