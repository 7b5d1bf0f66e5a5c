package k0rdent_test

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The whole of what the example renders to, and what of it is another for 1.12.
func TestGolden(t *testing.T) {
	older, newer := render(t, example(t)), render(t, example(t, to112...))
	var all, differs txtar.Archive
	for f := range older.tree.All() {
		all.Files = append(all.Files, txtar.File{Name: f.Path, Data: f.Content})
	}
	for _, path := range changed(older, newer) {
		f, _ := newer.tree.Get(path)
		differs.Files = append(differs.Files, txtar.File{Name: path, Data: f.Content})
	}
	for file, archive := range map[string]*txtar.Archive{"testdata/1.11.4.txtar": &all, "testdata/1.12.0-rc2.txtar": &differs} {
		got := txtar.Format(archive)
		if *update {
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
