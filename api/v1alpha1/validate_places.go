package v1alpha1

import (
	"slices"
	"strings"
)

// Add-ons that are Flux itself.
var fluxAddons = []string{"flux-instance", "flux-operator"}

// appsUnits are Kustomizations of layout apps beside those of the add-ons.
var appsUnits = []string{"cluster-apps", FluxNamespace, "tenants"}

// places checks what the layout and the installation of Flux ask of add-ons.
func (c *checker) places() {
	f := c.spec.Fleet
	if f == nil {
		return
	}
	for _, a := range c.spec.Addons {
		name := at("metadata", "name")
		if slices.Contains(fluxAddons, a.Metadata.Name) {
			c.fluxAddon(a, f)
		}
		switch f.Spec.Layout {
		case LayoutApps:
			if slices.Contains(appsUnits, a.Metadata.Name) {
				c.fail(a, name, "choose another name", "an add-on cannot be named %s in layout apps: a Kustomization of Fleetwright's own is", quote(a.Metadata.Name))
			}
			if owner, found := strings.CutSuffix(a.Metadata.Name, "-config"); found {
				if other := c.spec.Addon(owner); other != nil && other.Spec.Chart != nil && len(other.Spec.Resources) > 0 {
					c.fail(a, name, "choose another name", "the Kustomization for the resources of %s is named %s", c.called(other), quote(a.Metadata.Name))
				}
			}
		case LayoutFleet:
			if a.Spec.Stage == StageConfigs && a.Spec.Chart != nil && len(a.Spec.Resources) > 0 {
				c.fail(a, at("spec", "resources"), "put the chart into stage controllers: its resources are applied in stage configs",
					"a chart of stage configs cannot have resources: nothing makes them wait for it")
			}
		}
	}
}

// fluxAddon checks an add-on that is a part of Flux.
func (c *checker) fluxAddon(a *Addon, f *Fleet) {
	if f.Spec.Flux.Install != InstallOperator {
		c.fail(a, at("metadata", "name"), "set spec.flux.install: operator of the Fleet, or take the add-on out",
			"add-on %s is for flux.install: operator, the Fleet has %s", quote(a.Metadata.Name), f.Spec.Flux.Install)
		return
	}
	if a.Spec.Namespace != FluxNamespace {
		c.fail(a, at("spec", "namespace"), "write flux-system", "add-on %s is in namespace %s: Flux runs in flux-system", quote(a.Metadata.Name), quote(a.Spec.Namespace))
	}
	if a.Spec.Chart == nil && c.whole(a) {
		c.fail(a, at("spec"), "add spec.chart, or take the add-on out: it is installed without one too", "add-on %s has no chart", quote(a.Metadata.Name))
	}
}
