package generators

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/k0rdent"
	"github.com/fleetwright/fleetwright/generators/kommander"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

// platform is a product that a cluster of the specification manages: what it
// adds to the platform repository. Each does nothing where the specification
// doesn't have the product.
type platform struct {
	// generate writes the product's files; secrets are the declared ones whose
	// files there are.
	generate func(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed)
	// bootstrapped are the releases that the bootstrap of a cluster installs.
	bootstrapped func(*v1alpha1.Spec, layout.Layout, *v1alpha1.Cluster) []*addon.Placed
}

// platforms are all products. This is where one is registered.
var platforms = []platform{
	{generate: k0rdent.Generate, bootstrapped: k0rdent.Products},
	{generate: kommander.Generate, bootstrapped: kommander.Products},
}

// bootstrappedBy are the releases that products add to a cluster's bootstrap.
func bootstrappedBy(spec *v1alpha1.Spec, lay layout.Layout) func(*v1alpha1.Cluster) []*addon.Placed {
	return func(c *v1alpha1.Cluster) []*addon.Placed {
		var out []*addon.Placed
		for _, p := range platforms {
			out = append(out, p.bootstrapped(spec, lay, c)...)
		}
		return out
	}
}
