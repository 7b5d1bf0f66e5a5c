package builds

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Limits of all builds together. They are counted exactly; the time and memory of a build are
// measured (internal/bounds).
const (
	mostTotalGrowth  = 64 << 20 // bytes that substitution adds
	mostTotalObjects = 30_000
	mostVariables    = 500_000 // variables of all Kustomizations
	mostCopies       = 15      // of each object, in all clusters
	mostSteps        = 5_000   // kustomizations that one lister reads

	// files and bytes that ArtifactGenerators copy
	mostArtifactFiles = 100_000
	mostArtifactBytes = 64 << 20
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
	if b.files.Add(int64(files)) > mostArtifactFiles || b.copied.Add(int64(bytes)) > mostArtifactBytes {
		return &LimitError{errors.New("the artifacts of all generators are too large")}
	}
	return nil
}

// Apply counts the objects that a Kustomization applies. It returns an error if the budget is exceeded.
func (b *Budget) Apply(objects int) error {
	if most := mostTotalObjects + mostCopies*b.own.Load(); b.objects.Add(int64(objects)) > most {
		return &LimitError{fmt.Errorf("the Kustomizations of all clusters apply more than %d objects", most)}
	}
	return nil
}

// Define counts the variables of a Kustomization. It returns an error if the budget is exceeded.
func (b *Budget) Define(variables int) error {
	if b.variables.Add(int64(variables)) > mostVariables {
		return &LimitError{fmt.Errorf("the Kustomizations of all clusters have more than %d variables", mostVariables)}
	}
	return nil
}

// Grow counts the bytes by which substitution enlarges objects. It returns an error if the budget is exceeded.
func (b *Budget) Grow(bytes int) error {
	if b.growth.Add(int64(bytes)) > mostTotalGrowth {
		return &LimitError{fmt.Errorf("substitution makes the objects larger by more than %d MB", mostTotalGrowth>>20)}
	}
	return nil
}

// LimitError reports a limit of Fleetwright that was exceeded, not one of Flux.
type LimitError struct{ Err error }

func (e *LimitError) Error() string { return e.Err.Error() }

// Limited returns a repository's error about a file or string as a LimitError, without the position, which the
// gap reports.
func Limited(err error) error {
	if known := (*repository.Error)(nil); errors.As(err, &known) {
		err = errors.New(known.Message)
	}
	return &LimitError{err}
}
