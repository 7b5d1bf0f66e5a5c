package platformtest

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Golden compares a whole repository with an archive, and the files that differ in a newer release's repository with a second
// archive. If update is true, it rewrites the archives.
func Golden(t *testing.T, update bool, older *Rendered, olderFile string, newer *Rendered, newerFile string) {
	t.Helper()
	var all, differs txtar.Archive
	for f := range older.Tree.All() {
		all.Files = append(all.Files, txtar.File{Name: f.Path, Data: f.Content})
	}
	for _, path := range Changed(older, newer) {
		f, _ := newer.Tree.Get(path)
		differs.Files = append(differs.Files, txtar.File{Name: path, Data: f.Content})
	}
	for file, archive := range map[string]*txtar.Archive{olderFile: &all, newerFile: &differs} {
		got := txtar.Format(archive)
		if update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what is rendered: run the test with -update and read the diff", file)
		}
	}
}
