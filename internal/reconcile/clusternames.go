package reconcile

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// parts are names of folders that hold a part of any cluster.
var parts = []string{"apps", "base", "config", "flux", "flux-system", "gitops", "infrastructure", "sync"}

// name gives each cluster a name that no other has, and sorts them by it: the last element of its
// root's path, unless others end in the same, or any cluster may; else the last one that tells it
// from the others; else the path.
func (f *Fleet) name() {
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
		tells := func(element string) bool { return count[element] == 1 && element != "." }
		if i := slices.IndexFunc(elements, func(element string) bool { return tells(element) && !slices.Contains(parts, element) }); i >= 0 {
			c.Name = elements[i]
		} else if i = slices.IndexFunc(elements, tells); i >= 0 {
			c.Name = elements[i]
		} else if !alone {
			c.Name = c.Root.Path
		}
	}
	sorting.Func(f.Clusters, func(a, b *Cluster) int { return cmp.Compare(a.Name, b.Name) })
}

// Cluster returns the cluster of a name or of a root's path; "" is the only one. The error is
// an *UnknownCluster.
func (f *Fleet) Cluster(name string) (*Cluster, error) {
	if c, ok := f.Named(name); ok {
		return c, nil
	}
	if name == "" && len(f.Clusters) == 1 {
		return f.Clusters[0], nil
	}
	unknown := &UnknownCluster{Name: name}
	for _, c := range f.Clusters {
		unknown.Known = append(unknown.Known, c.Name)
	}
	return nil, unknown
}

// Named returns the cluster of a name, of a root's path, or of an element of one that no other
// root's has: a bootstrap beside it calls it so.
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

// Is says whether a name, or a root's path, is the cluster's.
func (c *Cluster) Is(name string) bool { return c.Name == name || c.Root.Path == name }

// UnknownCluster is the error of a name that is no cluster's, or of none where there are
// several.
type UnknownCluster struct {
	Name  string
	Known []string
}

func (e *UnknownCluster) Error() string {
	switch {
	case len(e.Known) == 0:
		return "no cluster found: there is no FluxInstance and no Flux Kustomization"
	case e.Name == "":
		return fmt.Sprintf("there are %d clusters", len(e.Known))
	}
	return fmt.Sprintf("cluster %q does not exist", e.Name)
}

// Hint says how to fix it.
func (e *UnknownCluster) Hint() string {
	names := strings.Join(e.Known, ", ")
	near, ok := nearest.To(e.Name, e.Known)
	switch {
	case len(e.Known) == 0:
		return "pass the folder that a cluster syncs with --root PATH"
	case e.Name == "":
		return "select one with --cluster: " + names
	case ok:
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the clusters are " + names
}

// UnknownRoot is the error of a root that is no folder of the repository.
type UnknownRoot struct{ Path string }

func (e *UnknownRoot) Error() string {
	return fmt.Sprintf("the root %q is not a folder of the repository", e.Path)
}

// Hint says how to fix it.
func (*UnknownRoot) Hint() string { return "pass a folder of the repository, relative to its root" }
