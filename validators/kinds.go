package validators

import (
	"context"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/schema"
)

// Kinds returns the kinds of the objects that the clusters of a repository apply, with the sources of their
// schemas. Of the options it uses Fleet, Cluster, which limits it to one cluster, and Schemas.
func Kinds(ctx context.Context, repo *repository.Repository, o Options) ([]schema.Kind, error) {
	all := schema.Inventory(rule.NewPass(ctx, &rule.Rule{ID: "schemas"}, repo, rule.NewShared(o)))
	return all, ctx.Err()
}
