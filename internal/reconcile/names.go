package reconcile

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/schemas"
)

// Cluster returns the cluster of a name or of a root's path; "" is the only one. The error is
// an *UnknownCluster.
func (f *Fleet) Cluster(name string) (*Cluster, error) {
	unknown := &UnknownCluster{Name: name}
	for _, c := range f.Clusters {
		if c.Is(name) || name == "" && len(f.Clusters) == 1 {
			return c, nil
		}
		unknown.Known = append(unknown.Known, c.Name)
	}
	return nil, unknown
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
		return "no cluster is found: there is no FluxInstance and no Flux Kustomization"
	case e.Name == "":
		return fmt.Sprintf("there are %d clusters", len(e.Known))
	}
	return fmt.Sprintf("there is no cluster %q", e.Name)
}

// Hint is the way out.
func (e *UnknownCluster) Hint() string {
	names := strings.Join(e.Known, ", ")
	near, ok := schemas.Nearest(e.Name, e.Known)
	switch {
	case len(e.Known) == 0:
		return "name the folder that a cluster syncs with --root PATH"
	case e.Name == "":
		return "name one with --cluster: " + names
	case ok:
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the clusters are " + names
}

// UnknownRoot is the error of a root that is no folder of the repository.
type UnknownRoot struct{ Path string }

func (e *UnknownRoot) Error() string {
	return fmt.Sprintf("the root %q is no folder of the repository", e.Path)
}

// Hint is the way out.
func (*UnknownRoot) Hint() string { return "name a folder of the repository, relative to its root" }
