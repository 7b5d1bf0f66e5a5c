package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

const benchFiles = 30_000

// benchTree is a tree of small manifests: 1,000 tenants in 10 clusters make
// about as many.
func benchTree(tb testing.TB, version int) *Tree {
	tb.Helper()
	var t Tree
	for i := range benchFiles {
		add(tb, &t, fmt.Sprintf("tenants/cluster-%02d/tenant-%04d/file-%d.yaml", i%10, i/30, i%30/10), Managed,
			fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: tenant-%d\ndata:\n  version: %q\n  filler: %0900d\n", i, fmt.Sprint(version), i))
	}
	return &t
}

func add(tb testing.TB, t *Tree, path string, mode Mode, content string) {
	tb.Helper()
	if err := t.Add(File{Path: path, Mode: mode, Content: []byte(content)}); err != nil {
		tb.Fatal(err)
	}
}

func benchCompare(b *testing.B, t *Tree, dir string) *Plan {
	b.Helper()
	folder, err := OpenFolder(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	inv, err := ReadInventory(folder)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := Compare(t, folder, inv, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

// BenchmarkPlainNew and BenchmarkPlainUpdate write the same files with
// os.WriteFile alone: no comparison, no journal, no sync, and not atomic. They
// are what BenchmarkApplyNew and BenchmarkApplyUpdate are measured against.
func BenchmarkPlainNew(b *testing.B) {
	t := benchTree(b, 1)
	for b.Loop() {
		plainWrite(b, t, b.TempDir())
	}
}

func BenchmarkPlainUpdate(b *testing.B) {
	trees := []*Tree{benchTree(b, 1), benchTree(b, 2)}
	dir := b.TempDir()
	n := 0
	for b.Loop() {
		plainWrite(b, trees[n%2], dir)
		n++
	}
}

func plainWrite(b *testing.B, t *Tree, dir string) {
	b.Helper()
	for f := range t.All() {
		name := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, f.Content, 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyNew(b *testing.B) {
	t := benchTree(b, 1)
	for b.Loop() {
		dir := b.TempDir()
		if err := Apply(b.Context(), dir, benchCompare(b, t, dir)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyUpdate(b *testing.B) {
	dir := b.TempDir()
	trees := []*Tree{benchTree(b, 1), benchTree(b, 2)}
	n := 0
	for b.Loop() {
		if err := Apply(b.Context(), dir, benchCompare(b, trees[n%2], dir)); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

func BenchmarkCompareUnchanged(b *testing.B) {
	dir := b.TempDir()
	t := benchTree(b, 1)
	if err := Apply(b.Context(), dir, benchCompare(b, t, dir)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if plan := benchCompare(b, t, dir); plan.Stale() {
			b.Fatal("stale")
		}
	}
}

func BenchmarkInventoryEncode(b *testing.B) {
	inv := benchCompare(b, benchTree(b, 1), b.TempDir()).Inventory
	for b.Loop() {
		inv.Encode()
	}
}

func BenchmarkInventoryDecode(b *testing.B) {
	content := benchCompare(b, benchTree(b, 1), b.TempDir()).Inventory.Encode()
	for b.Loop() {
		if _, err := DecodeInventory(InventoryPath, content); err != nil {
			b.Fatal(err)
		}
	}
}
