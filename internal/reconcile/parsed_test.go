package reconcile

import (
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// parsed returns a repository with the files of a txtar archive.
func parsed(t *testing.T, archive string) *repository.Repository {
	t.Helper()
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
		for _, f := range txtar.Parse([]byte(archive)).Files {
			if !yield(f.Name, f.Data) {
				return
			}
		}
	}, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}
