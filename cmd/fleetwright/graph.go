package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/render"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// graphFlags say what the graph of clusters starts from.
type graphFlags struct {
	roots   []string
	sources []string
}

func (g *graphFlags) register(c *cobra.Command) {
	c.Flags().StringSliceVar(&g.roots, "root", nil, "start from the folder `PATH` of the repository instead of what a FluxInstance or gotk-sync.yaml says (repeatable)")
	c.Flags().StringSliceVar(&g.sources, "source", nil, "read the files of the GitRepository, OCIRepository or Bucket in a folder: `NAMESPACE/NAME=DIR` (repeatable)")
}

// options loads the sources' folders.
func (g *graphFlags) options() (reconcile.Options, error) {
	o := reconcile.Options{Roots: g.roots, Sources: map[string]*repository.Repository{}}
	for _, source := range g.sources {
		name, dir, ok := strings.Cut(source, "=")
		if !ok || strings.Count(name, "/") != 1 || dir == "" {
			return o, &render.BadInput{Err: fmt.Errorf("--source %q is not NAMESPACE/NAME=DIR", source), Hint: "for example --source apps/team-a=../team-a"}
		}
		if o.Sources[name] != nil {
			return o, &render.BadInput{Err: fmt.Errorf("--source names %q twice", name), Hint: "give one folder for each source"}
		}
		repo, err := loadRepository(dir)
		if err != nil {
			return o, err
		}
		o.Sources[name] = repo
	}
	return o, nil
}

// reconcileAll computes the clusters of a repository.
func (g *graphFlags) reconcileAll(ctx context.Context, repo *repository.Repository) (*reconcile.Fleet, error) {
	o, err := g.options()
	if err != nil {
		return nil, err
	}
	fleet, err := reconcile.Reconcile(ctx, repo, o)
	if err != nil && ctx.Err() == nil {
		return nil, &render.BadInput{Err: err, Hint: "name a folder of the repository, relative to its root"}
	}
	return fleet, err
}

// oneCluster picks the cluster of a name or path; "" is the only one.
func oneCluster(fleet *reconcile.Fleet, name string) (*reconcile.Cluster, error) {
	var names []string
	for _, c := range fleet.Clusters {
		if c.Name == name || c.Root.Path == name || name == "" && len(fleet.Clusters) == 1 {
			return c, nil
		}
		names = append(names, c.Name)
	}
	bad := &render.BadInput{Err: fmt.Errorf("there is no cluster %q", name), Hint: "the clusters are " + alternatives(names)}
	switch near, ok := schemas.Nearest(name, names); {
	case len(names) == 0:
		bad.Err = fmt.Errorf("no cluster is found: there is no FluxInstance and no Flux Kustomization")
		bad.Hint = "name the folder that a cluster syncs with --root PATH"
	case name == "":
		bad.Err = fmt.Errorf("there are %d clusters", len(names))
		bad.Hint = "name one with --cluster: " + alternatives(names)
	case ok && !slices.Contains(names, name):
		bad.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, bad
}
