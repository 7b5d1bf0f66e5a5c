package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/parallel"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Options of a reconciliation.
type Options struct {
	// Roots are folders to start from, one per cluster; empty: Reconcile finds them.
	Roots []string
	// Sources are repositories that are available locally, by the NAMESPACE/NAME of the source object that they replace.
	Sources map[string]*repository.Repository
	// Clone reads other branches and tags of the repository, which sources of clusters may name; nil reads none.
	Clone Clone
	// Remotes are the URLs of the repository's own remotes, if they are known. They identify the
	// repository's own source if nothing in it declares what a cluster syncs.
	Remotes []string
	// Charts are additional charts that are available locally, besides those in the repository and the
	// sources; it may be nil.
	Charts *charts.Library
	// Fetched is the cache of fetched charts, by the names in the repository's lock; it may be nil.
	Fetched *charts.Shelf
	// FetchedSources is the cache of fetched sources of files; it may be nil.
	FetchedSources *SourceShelf
	// Results returns the cache of renderings of fetched charts, nil for none; it is called when the first such chart is
	// rendered. A nil function caches nothing.
	Results func() Results
	// FluxOnly restricts rendering to charts that may contain objects of Flux, which is all that a fetch needs: the
	// objects of other charts are unknown.
	FluxOnly bool
	// WithoutCharts skips the rendering of HelmReleases.
	WithoutCharts bool
	// Lock replaces the lock file of a repository that has none.
	Lock *lock.Lock
}

// Reconcile computes what Flux would apply from a repository to each of its clusters. Each Kustomization reports what
// cannot be built or known. The error is the context's, or that of a root that is not a folder.
func Reconcile(ctx context.Context, repo *repository.Repository, opts Options) (*Fleet, error) {
	total := builds.NewBudget(append(slices.Collect(maps.Values(opts.Sources)), repo)...)
	names := readLock(repo, opts.Lock, opts.Fetched, newFetchedSources(opts.FetchedSources, total))
	own := &builds.Files{Repo: repo, Base: ".", Budget: total, Remotes: names.sources.remotes}
	starts := roots.WithOverlaid(roots.Find(repo, opts.Remotes), overlaid(ctx, own))
	if len(opts.Roots) > 0 {
		var err error
		if starts, err = selectedRoots(repo, opts, starts); err != nil {
			return nil, err
		}
	}
	mapped := map[string]*builds.Files{}
	for name, source := range opts.Sources {
		mapped[name] = &builds.Files{Repo: source, Base: ".", Budget: total, Remotes: own.Remotes}
	}
	fleet := &Fleet{Remotes: opts.Remotes, repo: repo, mapped: opts.Sources, library: opts.Charts, locked: names}
	others := &branches{clone: opts.Clone, budget: total, remotes: own.Remotes, read: map[string]*branch{}}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	walkers := walkAll(ctx, starts, len(opts.Roots) == 0, func() *walker {
		return &walker{ctx: ctx, own: own, mapped: mapped, slots: slots, locked: names, branches: others, remotes: opts.Remotes}
	})
	if len(opts.Roots) == 0 {
		walkers = withoutReached(walkers)
	}
	if !opts.WithoutCharts {
		newReleases(ctx, opts).render(walkers)
	}
	for _, w := range walkers {
		w.cluster.wide = w.clusterScoped
		w.findVerifications()
		w.cluster.finish()
		fleet.Clusters = append(fleet.Clusters, w.cluster)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fleet.Branches = others.repositories()
	fleet.fetched = names.sources.repositories()
	fleet.nameClusters()
	fleet.Unreached = unreached(repo, fleet)
	return fleet, nil
}

// overlaid returns the roots of clusters that share one sync in a base: the build of each cluster's overlay sets its path
// to the folder of the cluster.
func overlaid(ctx context.Context, own *builds.Files) []roots.Root {
	bases := roots.Bases(own.Repo)
	built := map[string]map[string]string{} // the paths of the Kustomizations, by overlay and NAMESPACE/NAME
	var dirs []string
	for _, base := range bases {
		for _, dir := range base.Overlays {
			if built[dir] == nil {
				built[dir] = map[string]string{}
				dirs = append(dirs, dir)
			}
		}
	}
	parallel.Each(len(dirs), func(i int) {
		for _, r := range own.Build(ctx, dirs[i], &kustomizev1.KustomizationSpec{}).Results {
			if spec, wrong := builds.SpecOf(r.Value); r.Kind == kindKs && wrong == "" {
				namespace, _, _ := unstructured.NestedString(r.Value, "metadata", "namespace")
				built[dirs[i]][namespace+"/"+r.Name] = spec.Path
			}
		}
	})
	var all []roots.Root
	for _, base := range bases {
		for _, dir := range base.Overlays {
			if root, ok := base.In(own.Repo, dir, built[dir][base.Namespace+"/"+base.Name]); ok {
				all = append(all, root)
			}
		}
	}
	return all
}

// selectedRoots returns the roots of the folders that the user passes; a folder that is also a found root is returned as
// found.
func selectedRoots(repo *repository.Repository, opts Options, found []roots.Root) ([]roots.Root, error) {
	var starts []roots.Root
	for _, dir := range opts.Roots {
		clean := path.Clean(dir)
		if _, ok := repo.ReadDir(clean); !ok {
			return nil, advice.Input(fmt.Errorf("the root %q is not a folder of the repository", dir), "pass a folder of the repository, relative to its root")
		}
		if i := slices.IndexFunc(found, func(r roots.Root) bool { return r.Path == clean }); i >= 0 {
			starts = append(starts, found[i])
			continue
		}
		starts = append(starts, roots.Folder(repo, clean, opts.Remotes))
	}
	return starts, nil
}

// unreached returns the Kustomizations in files that no cluster applies.
func unreached(repo *repository.Repository, fleet *Fleet) []*repository.Object {
	reached := map[*repository.Object]bool{}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			if k.Object != nil {
				reached[k.Object.Source] = true
			}
		}
	}
	return slices.DeleteFunc(roots.Candidates(repo), func(o *repository.Object) bool { return reached[o] })
}

// finish sorts and indexes a cluster whose Kustomizations are all built.
func (c *Cluster) finish() {
	c.sortSources()
	c.scrub()
	c.byIdentity = map[Identity][]*Object{}
	for _, k := range c.Kustomizations {
		c.objects = append(c.objects, k.Objects...)
		sorting.StableFunc(k.Gaps, func(a, b builds.Gap) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
		})
		k.Gaps = slices.Compact(k.Gaps)
		sorting.StableFunc(k.Remotes, func(a, b builds.Remote) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Field, b.Field))
		})
		k.Remotes = slices.Compact(k.Remotes)
		k.from = nil
	}
	c.objects = append(c.objects, c.created...)
	for _, r := range c.Releases {
		c.objects = append(c.objects, r.All()...)
	}
	for _, o := range c.objects {
		c.byIdentity[o.Identity] = append(c.byIdentity[o.Identity], o)
	}
}
