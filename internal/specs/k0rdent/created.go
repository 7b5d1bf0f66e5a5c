package k0rdent

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// toggles checks the objects that the values let kcm create: the toggles must be booleans, and the specification must not
// describe objects that differ from kcm's.
func (c *checker) toggles() {
	at := strict.At("spec", "values", "controller")
	controller, _ := c.of.Spec.Values["controller"].(map[string]any)
	for _, toggle := range []string{v1alpha1.K0rdentCreateManagement, v1alpha1.K0rdentCreateRelease, v1alpha1.K0rdentCreateTemplates} {
		if _, is := controller[toggle].(bool); !is && controller[toggle] != nil {
			c.Fail(c.of, at.Child(toggle), "write true or false", "%s is not true or false", at.Child(toggle))
		}
	}
	if c.created.Release && !c.created.Templates {
		c.Fail(c.of, at.Child(v1alpha1.K0rdentCreateRelease), "set controller.createTemplates to true, too, or remove it",
			"kcm creates its Release together with the templates: without createTemplates it creates neither")
	}
	if c.created.Management {
		c.leftToKCM(strict.At("spec", "capi"), c.of.Spec.CAPI.Config, false)
		for i, p := range c.of.Spec.Providers {
			c.leftToKCM(strict.At("spec", "providers").Item(i), p.Config, p.Disabled)
			if c.created.Release && p.Helm != nil {
				c.Fail(c.of, strict.At("spec", "providers").Item(i).Child("helm"), "remove controller.createManagement or controller.createRelease from spec.values",
					"the Management that kcm creates enables the providers of kcm's Release only")
			}
		}
	}
	c.versions()
}

// leftToKCM reports fields that a Management created by kcm does not have.
func (c *checker) leftToKCM(p *strict.Path, config map[string]any, disabled bool) {
	const hint = "remove it, or controller.createManagement from spec.values"
	if config != nil {
		c.Fail(c.of, p.Child("config"), hint, "kcm creates the Management, with no values for its components")
	}
	if disabled {
		c.Fail(c.of, p.Child("disabled"), hint, "kcm creates the Management, with all providers of the Release")
	}
}

// versions checks that the versions of charts are known, and that the versions in a Release that kcm creates
// are the release's own.
func (c *checker) versions() {
	s := &c.of.Spec
	c.version(strict.At("spec", "capi"), kcm.ClusterAPI, s.CAPI.Version, nil)
	for i, p := range s.Providers {
		c.version(strict.At("spec", "providers").Item(i), p.Name, p.Version, p.Helm)
	}
}

func (c *checker) version(p *strict.Path, chart, version string, source *v1alpha1.K0rdentHelm) {
	own := c.created.Of.ChartVersion(chart)
	switch at := p.Child("version"); {
	case !c.Whole(c.of):
	case source != nil && version == "":
		c.Fail(c.of, at, "add the version of the chart", "provider %s has no version", strict.Quote(chart))
	case source != nil, c.misspelt(chart) != "":
	case c.created.Release && c.created.Of == nil:
	case c.created.Release && own == "":
		c.Fail(c.of, p, "set the source of its chart in helm, or remove controller.createRelease from spec.values",
			"the Release that kcm %s creates has no provider %s", strict.Shorten(c.of.Spec.Version), strict.Quote(chart))
	case c.created.Release && version != own:
		c.Fail(c.of, at, "remove it, or controller.createRelease from spec.values",
			"the Release that kcm %s creates has version %s of %s", strict.Shorten(c.of.Spec.Version), own, strict.Quote(chart))
	case version == "":
		c.Fail(c.of, at, "add the version of the chart: fleetwright knows those of k0rdent "+known(), "the version of %s in k0rdent %s is not known", strict.Quote(chart), strict.Shorten(c.of.Spec.Version))
	}
}

// known returns the range of releases whose charts are known.
func known() string {
	all := kcm.Releases()
	return fmt.Sprintf("%s to %s", all[0], all[len(all)-1])
}
