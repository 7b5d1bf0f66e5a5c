package k0rdent

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// providers checks that the providers exist, and that the provider that kcm always needs is enabled.
func (c *checker) providers() {
	slip := false
	for i, p := range c.of.Spec.Providers {
		at := strict.At("spec", "providers").Item(i)
		c.helm(at.Child("helm"), p.Helm)
		if p.Helm != nil {
			continue
		}
		if len(p.Provides) > 0 && c.ownChart(p.Name) {
			c.Fail(c.of, at.Child("provides"), "remove it", "the providers of kcm's chart %s are known", strict.Quote(p.Name))
		}
		if near := c.misspelt(p.Name); near != "" {
			slip = slip || near == kcm.Sveltos
			c.Fail(c.of, at.Child("name"), fmt.Sprintf("did you mean %q?", near), "kcm has no provider %s among its own charts", strict.Quote(p.Name))
		}
	}
	if !slip {
		c.sveltos()
	}
}

// ownChart reports whether a chart is one of kcm's own.
func (c *checker) ownChart(name string) bool {
	_, known := kcm.Brings(name)
	return known && c.of.Spec.ChartsURL == v1alpha1.K0rdentCharts
}

// misspelt returns the chart of kcm for which the name of a provider is a typo, "" if it is none. A custom registry of
// charts may contain other charts.
func (c *checker) misspelt(name string) string {
	const most = 2 // maximum number of wrong letters
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

// sveltos checks that Sveltos is enabled if there are clusters or services: kcm does not start
// their controllers until Sveltos is ready (kcm v1.6.0, v1.11.4 and v1.12.0-rc2,
// internal/controller/management_controller.go, startDependentControllers).
func (c *checker) sveltos() {
	s := &c.of.Spec
	if len(s.ClusterDeployments)+len(s.MultiClusterServices) == 0 || !c.Whole(c.of) || c.created.Management && c.created.Release {
		return // kcm enables all its providers
	}
	p, hint := strict.At("spec", "providers"), "add "+kcm.Sveltos+" to spec.providers, with the version of its chart"
	if i := slices.IndexFunc(s.Providers, func(p v1alpha1.K0rdentProvider) bool { return p.Name == kcm.Sveltos }); i >= 0 {
		if !s.Providers[i].Disabled {
			return
		}
		p, hint = p.Item(i).Child("disabled"), "take it out"
	}
	c.Fail(c.of, p, hint, "provider %s is not enabled: without it, kcm creates no clusters and installs no services", kcm.Sveltos)
}
