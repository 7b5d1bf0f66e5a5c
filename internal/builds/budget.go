package builds

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Budget limits what all builds of a run together may use.
type Budget struct {
	own                                       atomic.Int64 // objects in the repositories
	objects, growth, variables, files, copied atomic.Int64
}

// NewBudget returns the budget of all builds of the repositories.
func NewBudget(repos ...*repository.Repository) *Budget {
	b := &Budget{}
	for _, repo := range repos {
		b.Include(repo)
	}
	return b
}

// Include adds a repository: the budget grows with its objects.
func (b *Budget) Include(repo *repository.Repository) {
	for range repo.Objects() {
		b.own.Add(1)
	}
}

// Copy counts files and bytes that are copied into artifacts. It returns an error if the budget is exceeded.
func (b *Budget) Copy(files, bytes int) error {
	if b.files.Add(int64(files)) > limits.Files || b.copied.Add(int64(bytes)) > limits.TotalBytes {
		return &LimitError{Err: errors.New("the artifacts of all generators are too large")}
	}
	return nil
}

// Apply counts the objects that a Kustomization applies. It returns an error if the budget is exceeded.
func (b *Budget) Apply(objects int) error {
	if most := limits.Objects + limits.ObjectCopies*b.own.Load(); b.objects.Add(int64(objects)) > most {
		return &LimitError{Err: fmt.Errorf("the Kustomizations of all clusters apply more than %d objects", most)}
	}
	return nil
}

// Define counts the variables of a Kustomization. It returns an error if the budget is exceeded.
func (b *Budget) Define(variables int) error {
	if b.variables.Add(int64(variables)) > limits.Variables {
		return &LimitError{Err: fmt.Errorf("the Kustomizations of all clusters have more than %d variables", limits.Variables)}
	}
	return nil
}

// Grow counts the bytes by which substitution enlarges objects. It returns an error if the budget is exceeded.
func (b *Budget) Grow(bytes int) error {
	if b.growth.Add(int64(bytes)) > limits.TotalBytes {
		return &LimitError{Err: fmt.Errorf("variable substitution enlarges the objects by more than %d MB", limits.TotalBytes>>20)}
	}
	return nil
}

// LimitError reports a limit of Fleetwright that was exceeded, not one of Flux.
type LimitError struct {
	Err error
	// kind is Unreadable for a file that the operating system does not let Fleetwright read; "" for a limit.
	kind GapKind
}

func (e *LimitError) Error() string { return e.Err.Error() }

// Limited returns a repository's error about a file or string as a LimitError, without the position, which the
// gap reports. It is also used for a file that cannot be read, which says as little about what Flux does.
func Limited(err error) error {
	limit := &LimitError{Err: err}
	if known := (*repository.Error)(nil); errors.As(err, &known) {
		limit.Err = errors.New(known.Message)
		if known.Reason == repository.Unreadable {
			limit.kind = Unreadable
		}
	}
	return limit
}
