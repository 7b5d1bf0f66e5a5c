package k0rdent

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// providers checks that the providers are some, and that the one is enabled without which kcm makes
// nothing.
func (c *checker) providers() {
	slip := false
	for i, p := range c.of.Spec.Providers {
		if near := c.misspelt(p.Name); near != "" {
			slip = slip || near == kcm.Sveltos
			c.Fail(c.of, strict.At("spec", "providers").Item(i).Child("name"), fmt.Sprintf("did you mean %q?", near), "there is no provider %s among kcm's own charts", strict.Quote(p.Name))
		}
	}
	if !slip {
		c.sveltos()
	}
}

// misspelt is the chart of kcm's that the name of a provider is a slip of the pen for, "" where it is
// none. Where the charts come from a place of one's own there may be other ones.
func (c *checker) misspelt(name string) string {
	const most = 2 // letters that are wrong
	if _, known := kcm.Brings(name); known || c.of.Spec.ChartsURL != v1alpha1.K0rdentCharts {
		return ""
	}
	charts := kcm.Charts()
	if c.Report.Compared += len(charts); c.Report.Compared > strict.MaxCompared || c.Report.Full() {
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
func (c *checker) sveltos() {
	s := &c.of.Spec
	if len(s.ClusterDeployments)+len(s.MultiClusterServices) == 0 || !c.Whole(c.of) {
		return
	}
	p, hint := strict.At("spec", "providers"), "add "+kcm.Sveltos+" to spec.providers, with the version of its chart"
	if i := slices.IndexFunc(s.Providers, func(p v1alpha1.K0rdentProvider) bool { return p.Name == kcm.Sveltos }); i >= 0 {
		if !s.Providers[i].Disabled {
			return
		}
		p, hint = p.Item(i).Child("disabled"), "take it out"
	}
	c.Fail(c.of, p, hint, "the provider %s is not enabled, without which kcm makes no clusters and installs no services", kcm.Sveltos)
}
