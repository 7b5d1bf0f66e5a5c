package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/validators/limit"
)

// graphFlags say what the graph of clusters starts from.
type graphFlags struct {
	roots   []string
	sources []string
	charts  []string
}

func (g *graphFlags) register(c *cobra.Command) {
	c.Flags().StringSliceVar(&g.roots, "root", nil, "start from the folder `PATH` of the repository instead of what a FluxInstance or gotk-sync.yaml says (repeatable)")
	c.Flags().StringSliceVar(&g.sources, "source", nil, "read the files of the GitRepository, OCIRepository or Bucket in a folder: `NAMESPACE/NAME=DIR` (repeatable)")
	c.Flags().StringSliceVar(&g.charts, "charts", nil, "render the HelmReleases whose charts are below this `DIR`, as folders or .tgz archives, too: charts in the repository are rendered anyway (repeatable)")
}

// options loads the sources' folders. Their files are told of as seen from the folder that is
// validated.
func (g *graphFlags) options(root string) (reconcile.Options, error) {
	o := reconcile.Options{Roots: g.roots, Remotes: gitrepo.Remotes(root), Sources: map[string]*repository.Repository{}}
	if len(g.charts) > 0 {
		library, err := charts.Open(g.charts...)
		if err != nil {
			return o, &render.BadInput{Err: fmt.Errorf("--charts: %w", err), Hint: "name a folder that helm pull, or a checkout, put charts in"}
		}
		o.Charts = library
	}
	for _, source := range g.sources {
		name, dir, ok := strings.Cut(source, "=")
		if !ok || strings.Count(name, "/") != 1 || dir == "" {
			return o, &render.BadInput{Err: fmt.Errorf("--source %q is not NAMESPACE/NAME=DIR", source), Hint: "for example --source apps/team-a=../team-a"}
		}
		if o.Sources[name] != nil {
			return o, &render.BadInput{Err: fmt.Errorf("--source names %q twice", name), Hint: "give one folder for each source"}
		}
		repo, err := loadNamed(dir, seenFrom(root, dir))
		if err != nil {
			return o, err
		}
		o.Sources[name] = repo
	}
	return o, nil
}

// seenFrom is a folder as seen from another one, with forward slashes.
func seenFrom(root, dir string) string {
	from, err := filepath.Abs(root)
	to, failed := filepath.Abs(dir)
	if err == nil && failed == nil {
		if seen, err := filepath.Rel(from, to); err == nil {
			dir = seen
		}
	}
	return filepath.ToSlash(dir)
}

// reconcileAll computes the clusters of the repository in a folder.
func (g *graphFlags) reconcileAll(ctx context.Context, dir string, repo *repository.Repository) (*reconcile.Fleet, error) {
	o, err := g.options(dir)
	if err != nil {
		return nil, err
	}
	fleet, err := reconcile.Reconcile(ctx, repo, o)
	if err == nil {
		limit.Note(repo, fleet)
	}
	return fleet, badGraph(err)
}

// oneCluster picks the cluster of a name or path; "" is the only one.
func oneCluster(fleet *reconcile.Fleet, name string) (*reconcile.Cluster, error) {
	c, err := fleet.Cluster(name)
	return c, badGraph(err)
}

// badGraph makes a cluster, root or source that isn't there wrong input.
func badGraph(err error) error {
	cluster, root, source := (*reconcile.UnknownCluster)(nil), (*reconcile.UnknownRoot)(nil), (*reconcile.UnknownSource)(nil)
	if errors.As(err, &cluster) || errors.As(err, &root) || errors.As(err, &source) {
		return &render.BadInput{Err: err, Hint: hintOf(err)}
	}
	return err
}
