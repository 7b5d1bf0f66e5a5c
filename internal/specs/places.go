package specs

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Add-ons that are Flux itself.
var fluxAddons = []string{"flux-instance", "flux-operator"}

// appsUnits are the Kustomizations of the layout apps that are not for add-ons.
var appsUnits = []string{"cluster-apps", v1alpha1.FluxNamespace, "tenants"}

// places checks the requirements of the layout and of the installation of Flux on add-ons.
func (c *specChecker) places() {
	f := c.Spec.Fleet
	if f == nil {
		return
	}
	for _, a := range c.Spec.Addons {
		name := strict.At("metadata", "name")
		if slices.Contains(fluxAddons, a.Metadata.Name) {
			c.fluxAddon(a, f)
		}
		switch f.Spec.Layout {
		case v1alpha1.LayoutApps:
			if slices.Contains(appsUnits, a.Metadata.Name) {
				c.Fail(a, name, "choose another name", "an add-on cannot be named %s in layout apps: Fleetwright generates a Kustomization with that name", strict.Quote(a.Metadata.Name))
			}
			if owner, found := strings.CutSuffix(a.Metadata.Name, "-config"); found {
				if other := c.Spec.Addon(owner); other != nil && other.Spec.Chart != nil && len(other.Spec.Resources) > 0 {
					c.Fail(a, name, "choose another name", "the Kustomization for the resources of %s is named %s", c.Called(other), strict.Quote(a.Metadata.Name))
				}
			}
		case v1alpha1.LayoutFleet:
			if a.Spec.Stage == v1alpha1.StageConfigs && a.Spec.Chart != nil && len(a.Spec.Resources) > 0 {
				c.Fail(a, strict.At("spec", "resources"), "move the chart to stage controllers: its resources are applied in stage configs",
					"a chart of stage configs cannot have resources, because they would not wait for the chart")
			}
		}
	}
}

// fluxAddon checks an add-on that is part of Flux.
func (c *specChecker) fluxAddon(a *v1alpha1.Addon, f *v1alpha1.Fleet) {
	if f.Spec.Flux.Install != v1alpha1.InstallOperator {
		c.Fail(a, strict.At("metadata", "name"), "set spec.flux.install: operator in the Fleet, or remove the add-on",
			"add-on %s requires spec.flux.install: operator, but the Fleet has %s", strict.Quote(a.Metadata.Name), f.Spec.Flux.Install)
		return
	}
	if a.Spec.Namespace != v1alpha1.FluxNamespace {
		c.Fail(a, strict.At("spec", "namespace"), "write flux-system", "add-on %s is in namespace %s, but Flux runs in flux-system", strict.Quote(a.Metadata.Name), strict.Quote(a.Spec.Namespace))
	}
	if a.Spec.Chart == nil && c.Whole(a) {
		c.Fail(a, strict.At("spec"), "add spec.chart, or remove the add-on, which is then installed anyway", "add-on %s has no chart", strict.Quote(a.Metadata.Name))
	}
}
