package flux

import (
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// budget bounds what one rule spends on hints and positions: both look at all names, or at
// many files, for each finding. What goes beyond has no hint, and stands at its object.
type budget struct{ names, reads int }

func newBudget() *budget { return &budget{names: 200_000, reads: 5_000} }

// nearest is the one of some names that a misspelt one was meant to be.
func (b *budget) nearest(name string, names []string) (string, bool) {
	if b.names -= len(names); b.names < 0 {
		return "", false
	}
	return nearest.To(name, names)
}

// read reads a file.
func (b *budget) read(repo *repository.Repository, file string) (string, bool) {
	if b.reads--; b.reads < 0 {
		return "", false
	}
	data, err := repo.ReadFile(file)
	return string(data), err == nil
}
