package k0rdent

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// UpgradeUnsupported is k0rdent-upgrade-unsupported.
var UpgradeUnsupported = rule.Rule{
	ID:       "k0rdent-upgrade-unsupported",
	Title:    "an upgrade to a template that the chain doesn't support",
	Severity: finding.Error,
	Why: `Every name under availableUpgrades stands among the chain's supportedTemplates too, with the upgrades that lead on from
there or without any. kcm's webhook refuses a chain where one doesn't.`,
	Fix:  `Add the template to supportedTemplates, or correct the name.`,
	Bad:  []rule.Example{{Files: base + chain("aws-standalone-cp-1-0-44 # <-- here")}},
	Good: []rule.Example{{Files: base + chain("aws-standalone-cp-1-0-43")}},
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			if o.Group != group || o.Kind != clusterChain && o.Kind != serviceChain {
				continue
			}
			templates := supported(o)
			known, open := map[string]bool{}, false
			var hints platform.Hints
			for _, name := range templates {
				known[name] = true
				open = open || platform.Unknown(name)
			}
			for i := range o.List("spec", "supportedTemplates") {
				for j := range o.List("spec", "supportedTemplates", i, "availableUpgrades") {
					path := []any{"spec", "supportedTemplates", i, "availableUpgrades", j, "name"}
					name := o.Text(path...)
					if name == "" || platform.Unknown(name) || known[name] || open {
						continue
					}
					f := finding.Finding{Message: fmt.Sprintf("%s allows an upgrade to %s, which is not among its supportedTemplates", o, name)}
					if near := hints.Nearest(name, templates); near != "" {
						f.Hint = fmt.Sprintf("did you mean %q? otherwise add it to supportedTemplates", near)
					}
					p.ReportBuilt(o, f, path...)
				}
			}
		}
	},
}
