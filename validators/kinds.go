package validators

import (
	"context"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/schema"
)

// Kinds returns the kinds of the objects that the clusters of a repository apply, with the sources of their
// schemas, and the clusters. Of the options it uses Cluster, which limits it to one cluster, Schemas and
// Reconcile.
func Kinds(ctx context.Context, repo *repository.Repository, o Options) ([]schema.Kind, *reconcile.Fleet, error) {
	shared := rule.Shared{Reconcile: o.Reconcile, Schemas: o.Schemas}
	p := rule.NewPass(ctx, &rule.Rule{ID: "schemas"}, repo, o.Cluster, &shared)
	fleet := p.Fleet()
	if err := shared.Err(); err != nil {
		return nil, nil, err
	}
	all := schema.Inventory(p)
	return all, fleet, ctx.Err()
}
