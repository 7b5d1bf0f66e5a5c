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
	f.Add(encodeIndex(nil))
	f.Add(encodeIndex([]indexEntry{{name: "a"}, {name: "b/c", ext: extSkipWorktree}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeIndex(data)
		if err != nil {
			return
		}
		again, err := decodeIndex(encodeIndex(entries))
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if len(again) != len(entries) {
			t.Fatalf("%d entries became %d", len(entries), len(again))
		}
	})
}
