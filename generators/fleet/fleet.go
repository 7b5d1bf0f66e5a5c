// Package fleet generates the platform repository except for its tenants: Flux itself on each cluster, the
// add-ons, the bootstrap, and the files for users and CI.
package fleet

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/bootstrap"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

// Options are the inputs of a render besides the specification; see generators.Options.
type Options struct {
	FluxComponents []byte
	Adopted        map[string][]byte
	// Secrets are the declared Secrets with existing files.
	Secrets []secret.Placed
	// Products returns the releases of platform products that a cluster's bootstrap installs.
	Products func(*v1alpha1.Cluster) []*addon.Placed
}

// Generate writes the platform's files, except for the tenants' and .sops.yaml.
func Generate(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, opts Options) {
	if spec.Fleet.Spec.Flux.Install == v1alpha1.InstallBootstrap {
		for _, c := range spec.Clusters {
			system(out, spec, c, opts)
		}
	}
	addon.Generate(out, spec, lay, opts.Secrets)
	bootstrap.Generate(out, spec, lay, opts.Products)
	workplace(out, spec)
}
