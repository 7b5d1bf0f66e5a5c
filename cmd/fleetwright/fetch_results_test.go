package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
)

// kept are the renderings in the cache.
func (f *fetchCase) kept() []string {
	f.t.Helper()
	all, err := filepath.Glob(filepath.Join(f.cache, "results", "*", "*", "*"))
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// TestKeptRenderings: what charts render is kept and used again, and what others put in its place never is. Nothing is kept of
// values that look like secrets.
func TestKeptRenderings(t *testing.T) {
	f := newFetchCase(t)
	if dir, err := cache.KeyFolder(); err != nil || !strings.HasPrefix(dir, os.Getenv("XDG_CONFIG_HOME")) {
		t.Skip("the folder of configurations is another one here")
	}
	f.Add("app", "1.0.0", fetchtest.Chart(t, "app", "1.0.0", "first"), "")
	f.release("app", "app", "1.x", f.Charts())
	f.release("private", "app", "1.x", f.Charts())
	private := filepath.Join(f.dir, "clusters/prod/private.yaml")
	data, err := os.ReadFile(private)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(private, bytes.ReplaceAll(data, []byte("{value: mine}"), []byte("{value: x, adminPassword: Tr0ub4dor-8Zq}")), 0o600); err != nil {
		t.Fatal(err)
	}
	f.want(0, nil, "build", f.dir)
	if kept := f.kept(); len(kept) > 0 {
		t.Errorf("without a key, %v is kept", kept)
	}
	f.want(0, []string{"1 chart: 1 fetched"}, "fetch", f.dir)
	want := f.want(0, []string{"value: mine"}, "build", f.dir)
	kept := f.kept()
	if len(kept) != 1 {
		t.Fatalf("%v are kept, want that of one release", kept)
	}
	content, err := os.ReadFile(kept[0])
	if err != nil || bytes.Contains(content, []byte("Tr0ub4dor")) || !bytes.Contains(content, []byte("mine")) {
		t.Fatalf("%v: %s", err, content)
	}
	f.want(0, []string{want}, "build", f.dir)

	// Somebody else's result is not used.
	evil := bytes.Replace(content, []byte("mine"), []byte("evil"), 1)
	if err := os.WriteFile(kept[0], evil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.want(0, []string{want}, "build", f.dir)

	// The user's own is.
	keys, err := cache.KeyFolder()
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.OpenResults(f.cache, keys).Write(filepath.Base(kept[0]), evil[32:]); err != nil {
		t.Fatal(err)
	}
	f.want(0, []string{"value: evil"}, "build", f.dir)

	// With another key, it is not.
	if err := os.Remove(filepath.Join(keys, "results.key")); err != nil {
		t.Fatal(err)
	}
	f.want(0, []string{want}, "build", f.dir)
	if err := cache.MakeKey(f.cache, keys); err != nil {
		t.Fatal(err)
	}
	f.want(0, []string{want}, "build", f.dir)

	f.want(0, nil, "fetch", "--prune", f.dir)
	if kept := f.kept(); len(kept) > 0 {
		t.Errorf("after a prune, %v are kept", kept)
	}
}
