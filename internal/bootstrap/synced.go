package bootstrap

import (
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// assign sets the cluster of a bootstrap's releases to the one whose folder their FluxInstance syncs, whatever their own
// folder is called.
func (j *judge) assign(releases []*helmfile.Release) {
	paths := j.syncPaths(releases)
	if len(paths) != 1 {
		return
	}
	i := slices.IndexFunc(j.Fleet.Clusters, func(c *reconcile.Cluster) bool { return c.Root.Path == paths[0] })
	if i < 0 {
		return
	}
	for _, r := range releases {
		j.synced[r.File] = true
		for _, each := range append(slices.Clone(r.Variants), r) {
			each.Cluster = j.Fleet.Clusters[i].Name
		}
	}
}

// syncPaths returns the folders that the FluxInstances sync which the releases create with their charts or hooks.
func (j *judge) syncPaths(releases []*helmfile.Release) []string {
	var paths []string
	for _, r := range releases {
		if chartOf(r) == instanceChart {
			if at := r.Values.Value.At("instance", "sync", "path"); at != nil && at.Unknown == nil {
				text, _ := at.Scalar.(string)
				paths = append(paths, text)
			}
		}
		for _, h := range r.Hooks {
			for _, t := range h.Applied {
				for _, o := range objectsAt(j.Repo, t.Value) {
					if o.Kind == "FluxInstance" && o.Group() == fluxapi.OperatorGroup {
						text, _ := o.Text("spec", "sync", "path")
						paths = append(paths, text)
					}
				}
			}
		}
	}
	for i := range paths {
		paths[i] = path.Join(".", paths[i])
	}
	return slices.Compact(slices.Sorted(slices.Values(paths)))
}
