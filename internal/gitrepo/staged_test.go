package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stagedByGit are the paths that the real git says are staged.
func stagedByGit(t *testing.T, dir string) []string {
	t.Helper()
	out := git(t, dir, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=AM", "--relative")
	if out == "" {
		return nil
	}
	paths := strings.Split(out, "\n")
	slices.Sort(paths)
	return paths
}

func TestStaged(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	put := func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, folder string, want ...string) *Staged {
		t.Helper()
		at := filepath.Join(dir, folder)
		s, err := ReadStaged(at, "")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := s.Changed(); !slices.Equal(got, want) || !slices.Equal(got, stagedByGit(t, at)) {
			t.Errorf("%s: got %q, want %q, git says %q", what, got, want, stagedByGit(t, at))
		}
		return s
	}
	check("before all", "")
	for _, name := range []string{"a-b/x", "a/b/c", "a/d", "a.txt", "ab"} {
		put(name, "1\n")
	}
	git(t, dir, "add", ".")
	check("before the first commit", "", "a-b/x", "a.txt", "a/b/c", "a/d", "ab")
	git(t, dir, "commit", "-qm", "first")
	check("clean", "")

	put("a/b/c", "staged\n")
	put("a/new/deep/er", "new\n")
	put("meant", "to be added\n")
	git(t, dir, "add", "a")
	git(t, dir, "add", "-N", "meant")
	git(t, dir, "rm", "-q", "ab")
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "link")
	put("a/b/c", "encrypted since\n")
	s, err := ReadStaged(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a/b/c", "a/new/deep/er"}; !slices.Equal(s.Changed(), want) {
		t.Errorf("got %q, want %q", s.Changed(), want)
	}
	if content, err := s.ReadFile("a/b/c"); err != nil || string(content) != "staged\n" {
		t.Errorf("read %q, %v: want the bytes of the index", content, err)
	}
	for _, name := range []string{"ab", "meant", "link", "nothing", "a"} {
		if _, err := s.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("of a folder", "a", "b/c", "new/deep/er")
	if want := []string{"a-b/x", "a.txt", "a/b/c", "a/d", "a/new/deep/er"}; !slices.Equal(s.Paths(), want) {
		t.Errorf("paths %q, want %q", s.Paths(), want)
	}

	// git commit FILE… gives hooks an index of their own.
	git(t, dir, "add", ".")
	put("index", "")
	own := filepath.Join(dir, ".git", "next-index-1.lock")
	content, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, content, 0o666); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "reset", "-q")
	if s, err := ReadStaged(dir, ".git/next-index-1.lock"); err != nil || len(s.Changed()) != 3 {
		t.Errorf("with an index of the hook's: %q, %v", s.Changed(), err)
	}
	git(t, dir, "checkout", "-q", "--detach")
	git(t, dir, "add", "a")
	check("detached", "", "a/b/c", "a/new/deep/er")
	if _, err := ReadStaged(t.TempDir(), ""); !errors.Is(err, ErrNotRepository) {
		t.Errorf("outside of a repository: %v", err)
	}
}
