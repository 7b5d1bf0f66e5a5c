package addon

import (
	"cmp"
	"path"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// Placed contains the paths of an add-on's files for one cluster.
type Placed struct {
	Addon *v1alpha1.Addon
	// Release is the folder of the HelmRelease and its source; empty without a
	// chart.
	Release string
	// File is the file name of the HelmRelease in the folder; helmrelease.yaml by default.
	File string
	// Resources maps the name of a resource to its file.
	Resources map[string]string
	// WaitFor are the CustomResourceDefinitions that must exist before the release is installed.
	WaitFor []string
}

// HelmRelease returns the path of the HelmRelease's file.
func (p *Placed) HelmRelease() string {
	return path.Join(p.Release, cmp.Or(p.File, "helmrelease.yaml"))
}

// Places returns the paths of a cluster's add-ons by the names of the add-ons.
func Places(spec *v1alpha1.Spec, lay layout.Layout, c *v1alpha1.Cluster) map[string]*Placed {
	out := map[string]*Placed{}
	for _, u := range lay.Addons(c, On(spec, c)) {
		for _, p := range u.Parts {
			placed := out[p.Addon.Metadata.Name]
			if placed == nil {
				placed = &Placed{Addon: p.Addon, Resources: map[string]string{}}
				out[p.Addon.Metadata.Name] = placed
			}
			dir, _ := folderOf(spec, c, p)
			if p.Release {
				placed.Release = dir
			}
			for _, r := range p.Resources {
				placed.Resources[r.Name] = path.Join(dir, r.Name+".yaml")
			}
		}
	}
	return out
}
