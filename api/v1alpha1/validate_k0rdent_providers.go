package v1alpha1

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/nearest"
)

// providers checks that the providers are some, and that the one is enabled without which kcm makes
// nothing.
func (c *k0rdentChecker) providers() {
	slip := false
	for i, p := range c.of.Spec.Providers {
		if near := c.misspelt(p.Name); near != "" {
			slip = slip || near == kcm.Sveltos
			c.fail(c.of, at("spec", "providers").item(i).child("name"), fmt.Sprintf("did you mean %q?", near), "there is no provider %s among kcm's own charts", quote(p.Name))
		}
	}
	if !slip {
		c.sveltos()
	}
}

// misspelt is the chart of kcm's that the name of a provider is a slip of the pen for, "" where it is
// none. Where the charts come from a place of one's own there may be other ones.
func (c *k0rdentChecker) misspelt(name string) string {
	const most = 2 // letters that are wrong
	if _, known := kcm.Brings(name); known || c.of.Spec.ChartsURL != K0rdentCharts {
		return ""
	}
	charts := kcm.Charts()
	if c.report.compared += len(charts); c.report.compared > maxCompared || c.report.full() {
		return ""
	}
	near, ok := nearest.To(name, charts)
	if !ok || nearest.Distance(name, near) > most {
		return ""
	}
	return near
}

// sveltos checks that Sveltos is enabled where there are clusters or services: until it is ready kcm
// doesn't start the controllers of either (kcm v1.6.0, v1.11.4 and v1.12.0-rc2,
// internal/controller/management_controller.go, startDependentControllers).
func (c *k0rdentChecker) sveltos() {
	s := &c.of.Spec
	if len(s.ClusterDeployments)+len(s.MultiClusterServices) == 0 || !c.whole(c.of) {
		return
	}
	p, hint := at("spec", "providers"), "add "+kcm.Sveltos+" to spec.providers, with the version of its chart"
	if i := slices.IndexFunc(s.Providers, func(p K0rdentProvider) bool { return p.Name == kcm.Sveltos }); i >= 0 {
		if !s.Providers[i].Disabled {
			return
		}
		p, hint = p.item(i).child("disabled"), "take it out"
	}
	c.fail(c.of, p, hint, "the provider %s is not enabled, without which kcm makes no clusters and installs no services", kcm.Sveltos)
}
