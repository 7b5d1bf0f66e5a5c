package gitrepo

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReadRevision(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		git(t, dir, args...)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "--quiet", "--initial-branch=main")
	write("a/b.yaml", "first")
	write("c.yaml", "c")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "a", "link")); err != nil {
		t.Fatal(err)
	}
	run("add", "--all")
	run("commit", "--quiet", "--message", "first")
	run("tag", "one")
	write("a/b.yaml", "second")
	run("commit", "--quiet", "--all", "--message", "second")
	run("gc", "--quiet")
	write("a/b.yaml", "in the work tree")

	for _, c := range []struct{ at, revision, file, want string }{
		{".", "HEAD", "a/b.yaml", "second"},
		{".", "HEAD~1", "a/b.yaml", "first"},
		{".", "one", "a/b.yaml", "first"},
		{".", "main", "c.yaml", "c"},
		{"a", "HEAD~1", "b.yaml", "first"},
	} {
		files, err := ReadRevision(t.Context(), filepath.Join(dir, c.at), c.revision)
		if err != nil || string(files[c.file]) != c.want {
			t.Errorf("%s of %s at %s is %q, %v; want %q", c.file, c.at, c.revision, files[c.file], err, c.want)
		}
		if slices.Contains(slices.Collect(maps.Keys(files)), "a/link") {
			t.Error("a symlink is read")
		}
	}
	if _, err := ReadRevision(t.Context(), dir, "nothing"); !errors.Is(err, ErrNoRevision) {
		t.Errorf("an unknown revision gives %v", err)
	}
	if _, err := ReadRevision(t.Context(), t.TempDir(), "HEAD"); !errors.Is(err, ErrNotRepository) {
		t.Errorf("a folder outside of git gives %v", err)
	}
}

func TestWithin(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"repo/.git", "repo/.github/deep", "linked/sub", "bare"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "linked", ".git"), []byte("gitdir: /nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "repo", ".github"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, root, below string
		ok               bool
	}{
		{"repo", "repo", "", true},
		{"repo/.github", "repo", ".github", true},
		{"repo/.github/deep", "repo", ".github/deep", true},
		{"link/deep", "repo", ".github/deep", true},
		{"linked/sub", "linked", "sub", true},
		{"bare", "", "", false},
		{"nowhere", "", "", false},
	} {
		want := ""
		if c.ok {
			want = filepath.Join(root, c.root)
		}
		got, below, ok := Within(filepath.Join(root, c.dir))
		if got != want || below != c.below || ok != c.ok {
			t.Errorf("%s: %q, %q, %v", c.dir, got, below, ok)
		}
	}
}
