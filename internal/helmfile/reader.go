package helmfile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fleetwright/fleetwright/internal/beside"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// reader reads the helmfiles of a repository.
type reader struct {
	*templates.Engine
	repo *repository.Repository
	// budget bounds the files that one helmfile builds upon or calls.
	budget int
	// written returns the files that scripts write.
	written func() beside.Named
}

func newReader(ctx context.Context, repo *repository.Repository) *reader {
	return &reader{Engine: templates.New(ctx, repo), repo: repo, budget: limits.Helmfiles,
		written: sync.OnceValue(func() beside.Named { return beside.Written(repo) })}
}

// readValues reads a values file. Of one that does not exist but a script writes, the content is unknown.
func (r *reader) readValues(p string) ([]byte, located.Unknown) {
	data, bad := r.Read(p)
	if bad.Missing != "" {
		if by := r.written().By(bad.Missing); by != "" {
			delete(r.Reads, bad.Missing)
			bad = located.Unknown{Reason: fmt.Sprintf("values come from %s, which %s writes", bad.Missing, by)}
		}
	}
	return data, bad
}

// tooMany notes that a helmfile builds upon or calls more files than are read, and returns that as an error.
func (r *reader) tooMany() error {
	why := fmt.Sprintf("it uses other helmfiles as bases, or calls them, more than %d times", limits.Helmfiles)
	bounds.Refuse(r.Unit, why)
	return errors.New(why)
}
