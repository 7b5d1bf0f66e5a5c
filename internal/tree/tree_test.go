package tree

import (
	"slices"
	"testing"
)

func TestTree(t *testing.T) {
	var tree Tree
	if len(tree.Paths()) != 0 {
		t.Error("the zero tree is not empty")
	}
	for _, p := range []string{"b", "a/c", "a.b"} {
		add(t, &tree, p, Managed, p)
	}
	if err := tree.Add(File{Path: "b", Mode: Once}); err == nil || err.Error() != `"b" is generated twice` {
		t.Errorf("a path twice: %v", err)
	}
	want := []string{"a.b", "a/c", "b"}
	var got []string
	for f := range tree.All() {
		got = append(got, f.Path)
	}
	if !slices.Equal(got, want) || !slices.Equal(tree.Paths(), want) {
		t.Errorf("paths %q, want %q", got, want)
	}
	for range tree.All() {
		break // ends the iteration without harm
	}
	if f, ok := tree.Get("a/c"); !ok || string(f.Content) != "a/c" {
		t.Errorf("got %q, %v", f.Content, ok)
	}
	if _, ok := tree.Get("a"); ok {
		t.Error("a folder is taken for a file")
	}
}
