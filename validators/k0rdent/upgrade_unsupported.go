package k0rdent

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// UpgradeUnsupported is k0rdent-upgrade-unsupported.
var UpgradeUnsupported = rule.Rule{
	ID:       "k0rdent-upgrade-unsupported",
	Title:    "an upgrade to a template that the chain does not support",
	Severity: finding.Error,
	Why: `Every template in availableUpgrades must also be in the chain's supportedTemplates, with or without upgrades of
its own. kcm's webhook refuses a chain that violates this, and a chain in which some upgrades from a template
have a version and others do not.`,
	Fix: `Add the template to supportedTemplates, or correct the name. Set a version on all upgrades from a template, or
on none.`,
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
				mixed(p, o, i)
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

// mixed reports a template of a chain if some of its upgrades have a version and others have none.
func mixed(p *rule.Pass, o *reconcile.Object, i int) {
	has := func(j int) bool {
		return o.Text("spec", "supportedTemplates", i, "availableUpgrades", j, "version") != ""
	}
	for j := range o.List("spec", "supportedTemplates", i, "availableUpgrades") {
		if has(j) != has(0) {
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("some upgrades of %s from %s have a version and some do not: kcm refuses it", o, o.Text("spec", "supportedTemplates", i, "name")),
				Hint:    "set a version on all of them, or on none",
			}, "spec", "supportedTemplates", i, "availableUpgrades", j, "name")
			return
		}
	}
}
