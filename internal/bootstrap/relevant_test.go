package bootstrap

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestInterest holds the report that is made with the Kustomizations that matter to the one
// that validate makes, with all.
func TestInterest(t *testing.T) {
	archives, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	skipped := 0
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		repo := testarchive.Repository(t, a)
		whole, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		some, err := Verify(t.Context(), repo, nil)
		if err != nil {
			continue // no bootstrap
		}
		all, err := Verify(t.Context(), repo, whole)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(some)
		want, _ := json.Marshal(all)
		if string(got) != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		files, _, err := helmfile.ReadAll(t.Context(), repo)
		if err != nil {
			t.Fatal(err)
		}
		x := newRelevance(repo, files)
		for _, c := range whole.Clusters {
			for _, k := range c.Kustomizations {
				if !x.kustomizationMatters(k) {
					skipped++
				}
			}
		}
	}
	if skipped == 0 {
		t.Error("no Kustomization is left out: nothing is tested")
	}
}
