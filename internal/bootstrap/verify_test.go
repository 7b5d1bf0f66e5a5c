package bootstrap

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// repositoryOf loads the files of an archive, but for the expected ones.
func repositoryOf(t testing.TB, a *txtar.Archive) *repository.Repository {
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

// TestVerify compares the text report of each archive with its file "want".
func TestVerify(t *testing.T) {
	archives, err := filepath.Glob("testdata/[^h]*/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			report, err := Verify(t.Context(), repositoryOf(t, a), nil)
			if err != nil {
				got.WriteString("error: " + err.Error() + "\n")
			} else if err := report.WriteText(&got, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			checkWant(t, name, a, got.Bytes())
		})
	}
}

func checkWant(t *testing.T, name string, a *txtar.Archive, got []byte) {
	t.Helper()
	at := -1
	for i, f := range a.Files {
		if f.Name == "want" {
			at = i
		}
	}
	if *update {
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
