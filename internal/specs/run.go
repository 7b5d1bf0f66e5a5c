package specs

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// check runs all checks. Each adds its errors to the report.
func (c *specChecker) check() {
	c.Known = check.KnownNames(c.Spec.Clusters)
	c.on = make(map[*v1alpha1.Addon]map[string]bool, len(c.Spec.Addons))
	for _, a := range c.Spec.Addons {
		c.on[a] = map[string]bool{}
		for _, cluster := range c.Spec.Selected(a.Spec.Clusters) {
			c.on[a][cluster.Metadata.Name] = true
		}
	}
	for _, o := range c.all {
		meta := metaOf(o.Decoded)
		c.Labels(o.Decoded, strict.At("metadata", "labels"), meta.Labels)
		c.Annotations(o.Decoded, strict.At("metadata", "annotations"), meta.Annotations)
	}
	c.fleet()
	c.clusters()
	c.addons()
	c.places()
	c.order()
	c.resources()
	c.variables()
	c.tenants()
	c.namespaces()
	c.encryption()
	for _, checkProduct := range productChecks {
		checkProduct(c.Checker)
	}
}
