package builds

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// What all builds together may bring. These are counted exactly; what a build takes in time and
// memory is measured (internal/bounds).
const (
	mostTotalGrowth  = 64 << 20 // bytes that substitution adds
	mostTotalObjects = 30_000
	mostVariables    = 500_000 // that Kustomizations are given
	mostCopies       = 15      // of each object, in all clusters
	mostSteps        = 5_000   // kustomizations that a list passes

	// of what artifacts are made of
	mostArtifactFiles = 100_000
	mostArtifactBytes = 64 << 20
)

// Budget is what all builds of a run may take together.
type Budget struct {
	own                                       int // objects of the repository
	objects, growth, variables, files, copied atomic.Int64
}

// NewBudget returns the budget of builds of some repositories.
func NewBudget(repos ...*repository.Repository) *Budget {
	b := &Budget{}
	for _, repo := range repos {
		for range repo.Objects() {
			b.own++
		}
	}
	return b
}

// Copy charges what is copied into artifacts.
func (b *Budget) Copy(files, bytes int) error {
	if b.files.Add(int64(files)) > mostArtifactFiles || b.copied.Add(int64(bytes)) > mostArtifactBytes {
		return &LimitError{errors.New("the artifacts of all generators are too large")}
	}
	return nil
}

// Apply charges the objects of a Kustomization.
func (b *Budget) Apply(objects int) error {
	if most := mostTotalObjects + mostCopies*b.own; b.objects.Add(int64(objects)) > int64(most) {
		return &LimitError{fmt.Errorf("the Kustomizations of all clusters apply more than %d objects", most)}
	}
	return nil
}

// Define charges the variables of a Kustomization.
func (b *Budget) Define(variables int) error {
	if b.variables.Add(int64(variables)) > mostVariables {
		return &LimitError{fmt.Errorf("the Kustomizations of all clusters have more than %d variables", mostVariables)}
	}
	return nil
}

// Grow charges what substitution adds.
func (b *Budget) Grow(bytes int) error {
	if b.growth.Add(int64(bytes)) > mostTotalGrowth {
		return &LimitError{fmt.Errorf("substitution makes the objects larger by more than %d MB", mostTotalGrowth>>20)}
	}
	return nil
}

// LimitError is a limit of Fleetwright's, not of Flux's.
type LimitError struct{ Err error }

func (e *LimitError) Error() string { return e.Err.Error() }

// Limited makes a limit of what the repository says of a file or text; a gap tells the place.
func Limited(err error) error {
	if known := (*repository.Error)(nil); errors.As(err, &known) {
		err = errors.New(known.Message)
	}
	return &LimitError{err}
}
