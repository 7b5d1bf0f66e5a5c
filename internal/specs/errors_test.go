package specs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/strict"
)

var update = flag.Bool("update", false, "rewrite the expected errors in testdata")

// TestErrors loads each case of the archives and compares every error, its
// position and its hint. A case is NAME.yaml with the errors in NAME.want.
func TestErrors(t *testing.T) {
	base, err := os.ReadFile("testdata/errors/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load([]File{{Path: "base.yaml", Content: base}}); err != nil {
		t.Fatal("the base is not valid:", err)
	}
	archives, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(archives) < 6 {
		t.Fatal("archives are missing:", archives, err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, f := range archive.Files {
			if id, ok := strings.CutSuffix(f.Name, ".want"); ok {
				want[id] = string(f.Data)
			}
		}
		var updated txtar.Archive
		for _, f := range archive.Files {
			id, ok := strings.CutSuffix(f.Name, ".yaml")
			if !ok {
				continue
			}
			files := []File{{Path: "x.yaml", Content: f.Data}}
			if !strings.HasPrefix(id, "alone-") {
				files = append(files, File{Path: "base.yaml", Content: base})
			}
			got := ""
			t.Run(id, func(t *testing.T) {
				got = errorText(t, files)
				if !*update && got != want[id] {
					t.Errorf("got:\n%s\nwant:\n%s", got, want[id])
				}
			})
			updated.Files = append(updated.Files, f, txtar.File{Name: id + ".want", Data: []byte(got)})
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(&updated), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// errorText loads files that must be refused and returns the errors' text. It
// holds each error to the house rules: a place, a message, a way out, no secret.
func errorText(t *testing.T, files []File) string {
	t.Helper()
	spec, err := Load(files)
	var all strict.Errors
	if !errors.As(err, &all) || len(all) == 0 || spec != nil {
		t.Fatalf("got %v and error %v, want Errors alone", spec, err)
	}
	for _, e := range all {
		if e.Hint == "" && !strings.Contains(e.Message, ", want ") {
			t.Errorf("error without a way out: %v", e)
		}
		if e.Message == "" || e.File != "" && (e.Line < 1 || e.Column < 1) {
			t.Errorf("error without message or position: %+v", *e)
		}
		if e.File == "base.yaml" {
			t.Errorf("the error is not where it was made: %v", e)
		}
	}
	text := err.Error() + "\n"
	for _, secret := range []string{"hunter2", "aHVudGVyMg", "1QQPQQ0Q", "pass@"} {
		if strings.Contains(text, secret) {
			t.Errorf("an error prints the secret %q:\n%s", secret, text)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b *strict.Error) int { return strings.Compare(a.File, b.File) }) {
		t.Error("the errors are not sorted")
	}
	return text
}
