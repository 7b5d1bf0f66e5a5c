package k0rdent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// UpgradePath is k0rdent-upgrade-path.
var UpgradePath = rule.Rule{
	ID:       "k0rdent-upgrade-path",
	Title:    "a cluster that moves to a template without an upgrade path",
	Severity: finding.Error,
	Why: `A ClusterDeployment can change its template only along the upgrades of chains: kcm's webhook refuses a template
that no ClusterTemplateChain lists in the availableUpgrades of the previous one, whether it skips a version or
goes back (controller.validateClusterUpgradePath, on by default).

The rule checks a change since a revision: validate --changed-since REV. The chains of both revisions count,
since kcm knows the old chains until it has reconciled the new ones. If Git has no chain for the previous
template, or the applied objects are only partly known, the upgrade is unresolved.`,
	Fix: `Upgrade step by step along the chains, or add a chain with the upgrade after you have tested it.`,
	Run: func(p *rule.Pass) {
		moved := map[*reconcile.Object]string{}
		for change := range platform.Changes(p, group) {
			was, is := change.Was.Text("spec", "template"), change.Is.Text("spec", "template")
			if change.Is.Kind == clusterKind && was != is && was != "" && is != "" && !platform.Unknown(was) && !platform.Unknown(is) {
				moved[change.Is] = was
			}
		}
		if len(moved) == 0 {
			return
		}
		for _, w := range managementClusters(p) {
			if w.off("validateClusterUpgradePath") {
				continue
			}
			upgrades := upgradesOf(slices.Concat(p.AppliedBefore(), w.Own))
			for _, o := range w.Own {
				if was, judged := moved[o]; judged {
					w.upgrade(p, o, was, upgrades)
				}
			}
		}
	},
}

// upgradesOf returns the templates to which the chains among the objects allow an upgrade, by the current template. A
// chain counts in every namespace, since kcm copies the chains of its own namespace.
func upgradesOf(objects []*reconcile.Object) map[string][]string {
	upgrades := map[string][]string{}
	for _, chain := range objects {
		if chain.Group != group || chain.Kind != clusterChain {
			continue
		}
		for i, from := range supported(chain) {
			known := upgrades[from]
			for j := range chain.List("spec", "supportedTemplates", i, "availableUpgrades") {
				known = append(known, chain.Text("spec", "supportedTemplates", i, "availableUpgrades", j, "name"))
			}
			upgrades[from] = known
		}
	}
	return upgrades
}

// upgrade reports a cluster whose template changes without an upgrade path, or records it as unresolved.
func (w *managementCluster) upgrade(p *rule.Pass, o *reconcile.Object, was string, upgrades map[string][]string) {
	is := o.Text("spec", "template")
	to, known := upgrades[was]
	if slices.Contains(to, is) {
		return
	}
	if !known || w.Partial != "" || slices.ContainsFunc(to, platform.Unknown) {
		p.Unresolved(o.Position("spec", "template"), fmt.Sprintf("whether %s may move from %s to %s: no ClusterTemplateChain in Git has this upgrade, and others may exist", o, was, is))
		return
	}
	hint := "no upgrade starts from the current template: add a chain that has it"
	if len(to) > 0 {
		slices.Sort(to)
		hint = "the chains have an upgrade to " + strings.Join(slices.Compact(to), ", ")
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s moves from %s to %s, but no ClusterTemplateChain has this upgrade: kcm refuses it", o, was, is),
		Hint:    hint,
	}, "spec", "template")
}
