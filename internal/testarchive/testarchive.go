// Package testarchive reads the txtar archives of tests: a repository and the expected result. It compares results with the
// expected ones.
package testarchive

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Update is set to rewrite the expected results.
var Update = flag.Bool("update", false, "rewrite the expected reports")

// Repository loads the files of an archive except for the expected results.
func Repository(t testing.TB, a *txtar.Archive) *repository.Repository {
	t.Helper()
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
		for _, f := range a.Files {
			if !strings.HasPrefix(f.Name, "want") && !yield(f.Name, f.Data) {
				return
			}
		}
	}, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// CheckWant compares a result with the file "want" of an archive; with -update it rewrites the file.
func CheckWant(t *testing.T, name string, a *txtar.Archive, got []byte) {
	t.Helper()
	at := -1
	for i, f := range a.Files {
		if f.Name == "want" {
			at = i
		}
	}
	if *Update {
		if at < 0 {
			a.Files, at = append(a.Files, txtar.File{Name: "want"}), len(a.Files)
		}
		a.Files[at].Data = got
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if at < 0 {
		t.Fatalf("no file want; got:\n%s", got)
	}
	if want := a.Files[at].Data; !bytes.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
