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

// platform is a platform product that a cluster of the specification manages, with the functions that generate its files.
// The functions do nothing if the specification does not have the product.
type platform struct {
	// generate writes the product's files. secrets are the declared Secrets with existing files.
	generate func(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed, copied map[string][]byte)
	// bootstrapped returns the releases that the bootstrap of a cluster installs.
	bootstrapped func(*v1alpha1.Spec, layout.Layout, *v1alpha1.Cluster) []*addon.Placed
}

// platforms are all products. A new product is registered here.
var platforms = []platform{
	{generate: func(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed, _ map[string][]byte) {
		k0rdent.Generate(out, spec, lay, secrets)
	}, bootstrapped: k0rdent.Products},
	{generate: kommander.Generate, bootstrapped: kommander.Products},
}

// CopiedFolder is a folder that the user copies into the platform repository, and that a specification expects
// there.
type CopiedFolder = kommander.Copied

// CopiedFolders returns the folders that a specification expects in the platform repository. The caller passes
// their existing files as Options.Copied.
func CopiedFolders(spec *v1alpha1.Spec) []CopiedFolder { return kommander.CopiedFolders(spec) }

// bootstrappedBy returns a function that lists the releases which products add to the bootstrap of a cluster.
func bootstrappedBy(spec *v1alpha1.Spec, lay layout.Layout) func(*v1alpha1.Cluster) []*addon.Placed {
	return func(c *v1alpha1.Cluster) []*addon.Placed {
		var out []*addon.Placed
		for _, p := range platforms {
			out = append(out, p.bootstrapped(spec, lay, c)...)
		}
		return out
	}
}
