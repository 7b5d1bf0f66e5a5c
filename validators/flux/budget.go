package flux

import (
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// budget limits how much one rule spends on hints and positions, because each finding compares many names or
// reads many files. A finding beyond the limit has no hint, and its place is that of its object.
type budget struct{ names, reads int }

func newBudget() *budget { return &budget{names: 200_000, reads: 5_000} }

// nearest returns the name in names that a misspelled name was probably meant to be.
func (b *budget) nearest(name string, names []string) (string, bool) {
	if b.names -= len(names); b.names < 0 {
		return "", false
	}
	return nearest.To(name, names)
}

// read returns the content of a file, if the budget allows it.
func (b *budget) read(repo *repository.Repository, file string) (string, bool) {
	if b.reads--; b.reads < 0 {
		return "", false
	}
	data, err := repo.ReadFile(file)
	return string(data), err == nil
}
