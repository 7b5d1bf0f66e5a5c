package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// parts are names of folders that are common to many clusters.
var parts = []string{"apps", "base", "config", "flux", "flux-system", "gitops", "infrastructure", "sync"}

// nameClusters sets a unique name for each cluster, and sorts the clusters by it: the last element of the root's path, unless
// other paths end the same or any cluster may have it; else the last element that no other path has; else the path.
func (f *Fleet) nameClusters() {
	count := map[string]int{}
	for _, c := range f.Clusters {
		for _, element := range slices.Compact(slices.Sorted(strings.SplitSeq(c.Root.Path, "/"))) {
			count[element]++
		}
	}
	last := map[string]int{}
	for _, c := range f.Clusters {
		last[path.Base(c.Root.Path)]++
	}
	for _, c := range f.Clusters {
		c.Name = path.Base(c.Root.Path)
		alone := last[c.Name] == 1 && c.Name != "."
		if alone && !slices.Contains(parts, c.Name) {
			continue
		}
		elements := strings.Split(c.Root.Path, "/")
		slices.Reverse(elements)
		unique := func(element string) bool { return count[element] == 1 && element != "." }
		if i := slices.IndexFunc(elements, func(element string) bool { return unique(element) && !slices.Contains(parts, element) }); i >= 0 {
			c.Name = elements[i]
		} else if i = slices.IndexFunc(elements, unique); i >= 0 {
			c.Name = elements[i]
		} else if !alone {
			c.Name = c.Root.Path
		}
	}
	sorting.Func(f.Clusters, func(a, b *Cluster) int { return cmp.Compare(a.Name, b.Name) })
}

// Cluster returns the cluster with a name or a root's path; "" returns the only one.
func (f *Fleet) Cluster(name string) (*Cluster, error) {
	if c, ok := f.Named(name); ok {
		return c, nil
	}
	if name == "" && len(f.Clusters) == 1 {
		return f.Clusters[0], nil
	}
	var known []string
	for _, c := range f.Clusters {
		known = append(known, c.Name)
	}
	return nil, unknownCluster(name, known)
}

// Named returns the cluster with a name, with a root's path, or with an element in its root's path that no other root's
// path has: a bootstrap file next to it uses that name.
func (f *Fleet) Named(name string) (*Cluster, bool) {
	if i := slices.IndexFunc(f.Clusters, func(c *Cluster) bool { return c.Is(name) }); i >= 0 {
		return f.Clusters[i], true
	}
	var found *Cluster
	for _, c := range f.Clusters {
		if name == "" || !slices.Contains(strings.Split(c.Root.Path, "/"), name) {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = c
	}
	return found, found != nil
}

// Is reports whether a string is the cluster's name or its root's path.
func (c *Cluster) Is(name string) bool { return c.Name == name || c.Root.Path == name }

// unknownCluster returns the error for a name that no cluster has, or for "" if there is not exactly one cluster.
func unknownCluster(name string, known []string) error {
	names := strings.Join(known, ", ")
	near, ok := nearest.To(name, known)
	switch {
	case len(known) == 0:
		return advice.Input(errors.New("no cluster found: there is no FluxInstance and no Flux Kustomization"), "pass the folder that a cluster syncs with --root PATH")
	case name == "":
		return advice.Input(fmt.Errorf("there are %d clusters", len(known)), "select one with --cluster: "+names)
	case ok:
		return advice.Input(fmt.Errorf("cluster %q does not exist", name), fmt.Sprintf("did you mean %q?", near))
	}
	return advice.Input(fmt.Errorf("cluster %q does not exist", name), "the clusters are "+names)
}
