package helmfile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// reader reads the helmfiles of a repository.
type reader struct {
	*templates.Engine
	repo *repository.Repository
	// budget is how many more files one helmfile may use as a base or call.
	budget int
	// written returns the files that scripts write.
	written func() otherfiles.Named
	// scripts holds the words of the scripts that hooks run, nil of one that is too large.
	scripts map[string][]string
}

func newReader(ctx context.Context, repo *repository.Repository) *reader {
	return &reader{Engine: templates.New(ctx, repo), repo: repo, budget: limits.Helmfiles, scripts: map[string][]string{},
		written: sync.OnceValue(func() otherfiles.Named { return otherfiles.Written(repo) })}
}

// tooMany records that a helmfile uses or calls more files than are read, and returns that as an error.
func (r *reader) tooMany() error {
	why := fmt.Sprintf("it uses other helmfiles as bases, or calls them, more than %d times", limits.Helmfiles)
	bounds.Refuse(r.Unit, why)
	return errors.New(why)
}
