package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/limit"
)

// graphFlags are the flags that control the evaluation of the clusters.
type graphFlags struct {
	roots   []string
	sources []string
	charts  []string
	// clone reads other branches of the repository. It is opened once.
	clone reconcile.Clone
	// fetched are the charts in the user's cache.
	fetched *charts.Shelf
	// fetchedSources are the sources in the user's cache.
	fetchedSources *reconcile.SourceShelf
	// keeps is the environment that names the cache of renderings. If it is nil, no rendering is cached.
	keeps func(string) string
	// bringing limits rendering to charts that may contain Flux objects.
	bringing bool
}

func (g *graphFlags) register(c *cobra.Command, s streams) {
	g.registerSources(c, s)
	g.registerCharts(c)
}

// registerCharts adds the flag --charts.
func (g *graphFlags) registerCharts(c *cobra.Command) {
	c.Flags().StringSliceVar(&g.charts, "charts", nil, "also render HelmReleases whose charts are below `DIR`, as folders or .tgz archives; charts in the repository are always rendered (repeatable)")
}

// registerSources adds all flags except --charts.
func (g *graphFlags) registerSources(c *cobra.Command, s streams) {
	g.useCache(s.env)
	c.Flags().StringSliceVar(&g.roots, "root", nil, "start at the folder `PATH` of the repository instead of the path in a FluxInstance or gotk-sync.yaml (repeatable)")
	c.Flags().StringSliceVar(&g.sources, "source", nil, "read the files of a GitRepository, OCIRepository or Bucket from a folder: `NAMESPACE/NAME=DIR` (repeatable)")
}

// useCache reads charts, sources and renderings from the cache that the environment names.
func (g *graphFlags) useCache(env func(string) string) {
	g.fetched, g.fetchedSources, g.keeps = fetchedCharts(env), fetchedSources(env), env
}

// fetchedCharts returns the charts in the cache that the environment names. The cache's folder is read when the
// first chart is requested.
func fetchedCharts(env func(string) string) *charts.Shelf { return charts.NewShelf(fromCache(env)) }

// keptResults returns the renderings in the cache that the environment names, or nil if the user has no key.
func keptResults(env func(string) string) reconcile.Results {
	dir, err := cache.Folder(env)
	key, failed := cache.KeyFolder()
	if err != nil || failed != nil {
		return nil
	}
	if results := cache.OpenResults(dir, key); results != nil {
		return results
	}
	return nil
}

// fetchedSources returns the sources in the cache that the environment names.
func fetchedSources(env func(string) string) *reconcile.SourceShelf {
	return reconcile.NewSourceShelf(fromCache(env))
}

// fromCache returns a function that reads from the cache that the environment names.
func fromCache(env func(string) string) func(digest string) ([]byte, error) {
	return func(digest string) ([]byte, error) {
		dir, err := cache.Folder(env)
		if err != nil {
			return nil, errors.Join(err, fs.ErrNotExist)
		}
		return cache.New(dir).Read(digest)
	}
}

// options loads the folders of the sources. The paths of their files in messages are relative to the validated
// folder.
func (g *graphFlags) options(root string) (reconcile.Options, error) {
	if g.clone == nil {
		g.clone = cloneOf(root)
	}
	o := reconcile.Options{
		Roots: g.roots, Remotes: gitrepo.Remotes(root), Clone: g.clone, Sources: map[string]*repository.Repository{},
		Fetched: g.fetched, FetchedSources: g.fetchedSources, FluxOnly: g.bringing,
	}
	if g.keeps != nil {
		o.Results = sync.OnceValue(func() reconcile.Results { return keptResults(g.keeps) })
	}
	if len(g.charts) > 0 {
		library, err := charts.Open(g.charts...)
		if err != nil {
			return o, advice.Input(fmt.Errorf("--charts: %w", err), "name a folder that contains charts, such as a checkout or the destination of helm pull")
		}
		o.Charts = library
	}
	for _, source := range g.sources {
		name, dir, ok := strings.Cut(source, "=")
		if !ok || strings.Count(name, "/") != 1 || dir == "" {
			return o, advice.Input(fmt.Errorf("--source %q is not NAMESPACE/NAME=DIR", source), "for example --source apps/team-a=../team-a")
		}
		if o.Sources[name] != nil {
			return o, advice.Input(fmt.Errorf("--source sets %q twice", name), "pass one folder for each source")
		}
		repo, err := loadNamed(dir, seenFrom(root, dir))
		if err != nil {
			return o, err
		}
		o.Sources[name] = repo
	}
	return o, nil
}

// seenFrom returns the path of a folder relative to another one, with forward slashes.
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

// oneCluster returns the cluster with a name or path; "" selects the only one.
func oneCluster(fleet *reconcile.Fleet, name string) (*reconcile.Cluster, error) {
	c, err := fleet.Cluster(name)
	return c, badGraph(err)
}

// badGraph returns the error of the guard that ended the run before a cluster, root or source was known, or else err.
func badGraph(err error) error {
	if early := endedEarly(); err != nil && early != nil {
		return early
	}
	return err
}
