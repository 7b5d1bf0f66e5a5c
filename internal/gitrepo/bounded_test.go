package gitrepo

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// TestLargeObject: an object that is too large according to its header is not read.
func TestLargeObject(t *testing.T) {
	dir := normal(t, nil)
	hash := plumbing.NewHash(strings.Repeat("ab", 20))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := fmt.Fprintf(z, "blob %d\x00", limits.Committed+1<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{".git/" + looseFile(hash): packed.String()})
	l, err := findLayout(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := openObjects(l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.blob(hash); err == nil || !strings.Contains(err.Error(), "object "+hash.String()+" has 101 MB; up to 100 MB are read") {
		t.Errorf("got %v", err)
	}
}
