package images

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Image is an image reference and the objects of a cluster that use it.
type Image struct {
	Name string
	// Uses are in the order of the cluster's objects.
	Uses []Use
}

// Of returns the images of a cluster, sorted by name, and what is unknown.
func Of(c *reconcile.Cluster) ([]Image, []reconcile.Unknown) {
	return list(c, func(*reconcile.Object) bool { return true })
}

// list returns the images of the objects for which counts returns true.
func list(c *reconcile.Cluster, counts func(*reconcile.Object) bool) ([]Image, []reconcile.Unknown) {
	if c == nil {
		return nil, nil
	}
	by := map[string][]Use{}
	unresolved := c.Unknowns()
	open := func(o *reconcile.Object, path []any, format string, args ...any) {
		unresolved = append(unresolved, reconcile.Unknown{What: o.String(), Place: o.Position(path...), Reason: fmt.Sprintf(format, args...)})
	}
	for _, o := range objects(c) {
		uses, chosen := In(o)
		if chosen {
			open(o, nil, "an operator chooses its image")
		}
		for _, use := range uses {
			switch {
			case use.Unknown:
				open(o, use.Path, "the image %q is not known", use.Image)
			case counts(o):
				by[use.Image] = append(by[use.Image], use)
			}
		}
	}
	var all []Image
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, Image{name, by[name]})
	}
	return all, unresolved
}

// objects returns the objects of a cluster, and the hooks of its releases that run.
func objects(c *reconcile.Cluster) []*reconcile.Object {
	all := slices.Clone(c.Objects())
	for _, r := range c.Releases {
		for _, hook := range r.Hooks {
			if runs(hook, r.Object) {
				all = append(all, hook)
			}
		}
	}
	return all
}

// runs reports whether helm-controller ever runs a hook of a HelmRelease.
func runs(hook, release *reconcile.Object) bool {
	for event := range strings.SplitSeq(hook.Text("metadata", "annotations", "helm.sh/hook"), ",") {
		event = strings.TrimSpace(event)
		if event == "test" || event == "test-success" {
			if release.Field("spec", "test", "enable") == true {
				return true
			}
			continue
		}
		_, action, _ := strings.Cut(event, "-")
		if action = strings.Replace(action, "delete", "uninstall", 1); release.Field("spec", action, "disableHooks") != true {
			return true
		}
	}
	return false
}
