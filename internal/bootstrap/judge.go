package bootstrap

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// judge returns the verdicts on the releases of a repository's bootstraps, and on the Flux that they install.
type judge struct {
	*helmrelease.Index
	// engine finds the unknown parts of the releases.
	engine   *templates.Engine
	comments map[string][]finding.Comment // comments that ignore rules, by file
	// selectors are the findings that the configuration ignores.
	selectors []finding.Selector
	// prover renders what both sides install; nil renders nothing.
	prover *prover
	// synced holds the bootstrap files whose cluster is known from the path that their FluxInstance syncs.
	synced map[string]bool
}

// Fetched are the charts and sources in the user's cache that the lock names: the repository's lock, or Lock if the repository
// has none.
type Fetched struct {
	Charts  *charts.Shelf
	Sources *reconcile.SourceShelf
	Lock    *lock.Lock
}

// newJudge reads the HelmReleases that may take over the releases of the bootstrap files. The fleet is what Flux would apply;
// if it is nil, newJudge computes it, with the fetched charts and sources.
func newJudge(ctx context.Context, repo *repository.Repository, files [][]*helmfile.Release, e *templates.Engine, fleet *reconcile.Fleet, fetched Fetched) (*judge, error) {
	if fleet == nil {
		var err error
		if fleet, err = reconcile.Reconcile(ctx, repo, reconcile.Options{WithoutCharts: true, Fetched: fetched.Charts, FetchedSources: fetched.Sources, Lock: fetched.Lock}); err != nil {
			return nil, err
		}
	}
	j := &judge{Index: helmrelease.New(ctx, repo, fleet), engine: e, comments: map[string][]finding.Comment{}, synced: map[string]bool{}}
	for _, releases := range files {
		j.assign(releases)
	}
	return j, nil
}

// withCluster sets the cluster of a variant to the one that the variant's assumption about a variable names.
func (j *judge) withCluster(variant *helmfile.Release) *helmfile.Release {
	if variant.Cluster != "" {
		return variant
	}
	for _, name := range slices.Sorted(maps.Keys(variant.Assumptions.Variables)) {
		value := variant.Assumptions.Variables[name]
		for _, c := range j.Fleet.Clusters {
			if c.Is(value) || slices.Contains(strings.Split(path.Clean(c.Root.Path), "/"), value) {
				out := *variant
				out.Cluster = value
				return &out
			}
		}
	}
	return variant
}
