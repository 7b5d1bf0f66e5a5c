package reconcile

import (
	"cmp"
	"context"
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
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
	starts := roots.Find(repo, opts.Remotes)
	if len(opts.Roots) > 0 {
		var err error
		if starts, err = givenRoots(repo, opts, starts); err != nil {
			return nil, err
		}
	}
	total := builds.NewBudget(append(slices.Collect(maps.Values(opts.Sources)), repo)...)
	own := &builds.Files{Repo: repo, Base: ".", Budget: total, Wanted: opts.Wanted}
	mapped := map[string]*builds.Files{}
	for name, source := range opts.Sources {
		mapped[name] = &builds.Files{Repo: source, Base: ".", Budget: total}
	}
	fleet := &Fleet{Clusters: make([]*Cluster, len(starts)), repo: repo, given: opts.Sources}
	walkers := make([]*walker, len(starts))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range starts {
		wg.Go(func() {
			walkers[i] = &walker{ctx: ctx, own: own, mapped: mapped, slots: slots, only: opts.Only}
			walkers[i].start(starts[i])
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
func givenRoots(repo *repository.Repository, opts Options, found []roots.Root) ([]roots.Root, error) {
	var starts []roots.Root
	for _, dir := range opts.Roots {
		clean := path.Clean(dir)
		if _, ok := repo.ReadDir(clean); !ok {
			return nil, &UnknownRoot{dir}
		}
		if i := slices.IndexFunc(found, func(r roots.Root) bool { return r.Path == clean }); i >= 0 {
			starts = append(starts, found[i])
			continue
		}
		starts = append(starts, roots.Folder(repo, clean, opts.Remotes))
	}
	return starts, nil
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
	return slices.DeleteFunc(roots.Candidates(repo), func(o *repository.Object) bool { return reached[o] })
}

// finish sorts and indexes a cluster whose Kustomizations are all built.
func (c *Cluster) finish() {
	c.scrub()
	c.byIdentity = map[Identity][]*Object{}
	for _, k := range c.Kustomizations {
		c.objects = append(c.objects, k.Objects...)
		slices.SortStableFunc(k.Gaps, func(a, b builds.Gap) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
		})
		k.Gaps = slices.Compact(k.Gaps)
		k.from = nil
	}
	for _, r := range c.Releases {
		c.objects = append(c.objects, r.All()...)
	}
	for _, o := range c.objects {
		c.byIdentity[o.Identity] = append(c.byIdentity[o.Identity], o)
	}
}
