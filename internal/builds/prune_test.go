package builds

import (
	"maps"
	"testing"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestWholeIsShared: builds that fail where something was left out are made again of all files,
// and read those once.
func TestWholeIsShared(t *testing.T) {
	repo, err := repository.FromFiles(maps.All(map[string][]byte{"a/kustomization.yaml": []byte("resources: [b.yaml]\n")}), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &Files{Repo: repo, Base: ".", Budget: &Budget{}, Wanted: func(string) bool { return false }}
	first, again := f.whole().content("a/kustomization.yaml"), f.whole().content("a/kustomization.yaml")
	if first.err != nil || first != again {
		t.Errorf("it is read twice: %v", first.err)
	}
}
