package reconcile

import (
	"context"
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Options of a reconciliation.
type Options struct {
	// Roots are folders to start from, each a cluster's; none finds them.
	Roots []string
	// Sources are repositories at hand, by the NAMESPACE/NAME of the source object that
	// stands for them.
	Sources map[string]*repository.Repository
	// Remotes are the addresses that the repository itself has, where they are known: they tell
	// its own source where nothing in it says what a cluster syncs.
	Remotes []string
	// Charts are those at hand beside the repository's and the sources' own; it may be nil.
	Charts *charts.Library
	// Only says which Kustomizations of the repository's own source are built, and leaves the
	// charts of HelmReleases alone; nil builds and renders all. What is left out stays unknown.
	// It is asked by several goroutines.
	Only func(k *Kustomization) bool
	// Wanted says of a file or folder among the resources of kustomizations whether what it holds
	// is asked for: what isn't is left out, as long as the rest builds without it. Nil asks for
	// all. It is asked by several goroutines.
	Wanted func(at string) bool
}

// Reconcile computes what Flux would apply from a repository to each of its clusters. What
// cannot be built or known is told in each Kustomization. The error is the context's, or of a
// root that is no folder.
func Reconcile(ctx context.Context, repo *repository.Repository, opts Options) (*Fleet, error) {
	roots := findRoots(repo, opts.Remotes)
	if len(opts.Roots) > 0 {
		var err error
		if roots, err = givenRoots(repo, opts, roots); err != nil {
			return nil, err
		}
	}
	total := builds.NewBudget(append(slices.Collect(maps.Values(opts.Sources)), repo)...)
	own := &builds.Files{Repo: repo, Base: ".", Budget: total, Wanted: opts.Wanted}
	mapped := map[string]*builds.Files{}
	for name, source := range opts.Sources {
		mapped[name] = &builds.Files{Repo: source, Base: ".", Budget: total}
	}
	fleet := &Fleet{Clusters: make([]*Cluster, len(roots)), repo: repo, given: opts.Sources}
	walkers := make([]*walker, len(roots))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range roots {
		wg.Go(func() {
			walkers[i] = &walker{ctx: ctx, own: own, mapped: mapped, slots: slots, only: opts.Only}
			walkers[i].start(roots[i])
			walkers[i].walk()
			walkers[i].checkCopies()
		})
	}
	wg.Wait()
	if opts.Only == nil {
		newReleases(ctx, opts.Charts).render(walkers)
	}
	for i, w := range walkers {
		w.cluster.finish()
		fleet.Clusters[i] = w.cluster
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fleet.name()
	fleet.Unreached = unreached(repo, fleet)
	return fleet, nil
}

// givenRoots are the folders that the user names, with what is known of them.
func givenRoots(repo *repository.Repository, opts Options, found []Root) ([]Root, error) {
	var roots []Root
	for _, dir := range opts.Roots {
		clean := path.Clean(dir)
		if _, ok := repo.ReadDir(clean); !ok {
			return nil, &UnknownRoot{dir}
		}
		if i := slices.IndexFunc(found, func(r Root) bool { return r.Path == clean }); i >= 0 {
			roots = append(roots, found[i])
			continue
		}
		roots = append(roots, folderRoot(repo, clean, opts.Remotes))
	}
	return roots, nil
}

// unreached are the Kustomizations in files that are not among any cluster's.
func unreached(repo *repository.Repository, fleet *Fleet) []*repository.Object {
	reached := map[*repository.Object]bool{}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			if k.Object != nil {
				reached[k.Object.Source] = true
			}
		}
	}
	return slices.DeleteFunc(candidates(repo), func(o *repository.Object) bool { return reached[o] })
}
