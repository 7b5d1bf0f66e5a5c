package specs

import (
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// operatorOnly reports fields that only the Flux Operator supports.
func (c *specChecker) operatorOnly(f *v1alpha1.Fleet) {
	if f.Spec.Flux.Install != v1alpha1.InstallBootstrap || !c.Whole(f) {
		return
	}
	for _, field := range []struct {
		name string
		set  bool
	}{{"size", f.Spec.Flux.Size != ""}, {"sharding", f.Spec.Flux.Sharding != nil}} {
		if field.set {
			c.Fail(f, strict.At("spec", "flux", field.name), "write install: operator, or patch the controllers in clusters/NAME/flux-system/kustomization.yaml",
				"spec.flux.%s needs install: operator", field.name)
		}
	}
}

// shard checks that the shard in an object's label is one of the fleet's.
func (c *specChecker) shard(of any, meta v1alpha1.ObjectMeta) {
	if c.Spec.Fleet == nil || c.Spec.Fleet.Spec.Flux.Sharding == nil {
		return
	}
	sharding := c.Spec.Fleet.Spec.Flux.Sharding
	if name, ok := meta.Labels[sharding.Key]; ok && !slices.Contains(sharding.Shards, name) && c.Whole(of, c.Spec.Fleet) {
		c.Fail(of, strict.At("metadata", "labels", sharding.Key), c.Report.Suggest(name, "shard", "add it to spec.flux.sharding.shards of the Fleet", sharding.Shards),
			"shard %s does not exist", strict.Quote(name))
	}
}
