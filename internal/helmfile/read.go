package helmfile

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// ErrNoBootstrap says that a repository has no bootstrap file.
var ErrNoBootstrap = errors.New("no bootstrap file found: a helmfile with a list of releases, each with a name and a chart, " +
	"a kustomization with helmCharts, or a HelmChart of K3s")

// ReadAll evaluates all bootstrap files of a repository. It returns the releases of each file, sorted by the files' paths, and
// the engine that finds their unknown parts.
func ReadAll(ctx context.Context, repo *repository.Repository) ([][]*Release, *templates.Engine, error) {
	files := findHelmfiles(repo)
	r := newReader(ctx, repo)
	byFile, err := r.all(files)
	if err != nil {
		return nil, r.Engine, err
	}
	if len(files)+len(byFile) == 0 {
		return nil, r.Engine, ErrNoBootstrap
	}
	all := make([][]*Release, 0, len(byFile))
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		all = append(all, byFile[file])
	}
	return all, r.Engine, ctx.Err()
}
