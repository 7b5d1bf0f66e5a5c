package gitrepo

import (
	"os"
	"testing"
	"time"
)

// later makes an index younger than the files, so that none is racily clean.
func later(t *testing.T, path string) {
	t.Helper()
	when := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func FuzzDecodeIndex(f *testing.F) {
	dir := normal(f, map[string]string{"a": "1", "b/c": "2"})
	for _, version := range []string{"2", "4"} {
		git(f, dir, "update-index", "--index-version", version)
		data, err := os.ReadFile(dir + "/.git/index")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		if entries, err := decodeIndex(data); err == nil {
			nextTree(entries, 0)
		}
	})
}
