package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// readRefOf is the content of a file of a branch or tag; "-" where the clone has none.
func readRefOf(t *testing.T, dir, ref string) string {
	t.Helper()
	clone, ok := OpenClone(dir)
	if !ok {
		return "-"
	}
	files, err := clone.ReadRef(t.Context(), ref, func(url string) bool { return strings.Contains(url, "acme") })
	if err != nil {
		t.Fatal(err)
	}
	if files == nil {
		return "-"
	}
	data, err := files.ReadFile("a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadRef(t *testing.T) {
	dir := normal(t, map[string]string{"a.yaml": "first"})
	git(t, dir, "branch", "tenant/shop")
	git(t, dir, "tag", "v1")
	git(t, dir, "tag", "--annotate", "--message=signed", "v2", "v1")
	git(t, dir, "update-ref", "refs/remotes/origin/shop", "HEAD")
	git(t, dir, "update-ref", "refs/remotes/acme/shop", "HEAD")
	git(t, dir, "update-ref", "refs/remotes/acme/tenant/shop", "HEAD")
	git(t, dir, "config", "remote.origin.url", "https://example.com/fork")
	git(t, dir, "config", "remote.acme.url", "https://example.com/acme")
	write(t, dir, map[string]string{"a.yaml": "second"})
	git(t, dir, "commit", "--quiet", "--all", "--message=second")
	git(t, dir, "update-ref", "refs/remotes/acme/shop", "HEAD")
	git(t, dir, "branch", "ahead")
	git(t, dir, "update-ref", "refs/remotes/acme/ahead", "HEAD~1")
	git(t, dir, "branch", "behind", "HEAD~1")
	git(t, dir, "update-ref", "refs/remotes/acme/behind", "HEAD")
	git(t, dir, "symbolic-ref", "refs/heads/symbolic", "refs/heads/ahead")
	refs := map[string]string{
		"refs/heads/main": "second", "refs/heads/tenant/shop": "first", "refs/tags/v1": "first", "refs/tags/v2": "first",
		"refs/heads/shop":  "second", // of the remote with the repository's address
		"refs/heads/ahead": "second", "refs/heads/behind": "second",
		"refs/heads/nothing": "-", "refs/tags/main": "-", "refs/heads/../../config": "-", "refs/heads/": "-", "refs/heads/symbolic": "-",
	}
	check := func(t *testing.T, dir string) {
		t.Helper()
		for ref, want := range refs {
			if got := readRefOf(t, dir, ref); got != want {
				t.Errorf("%s is %q, want %q", ref, got, want)
			}
		}
	}
	check(t, dir)
	git(t, dir, "pack-refs", "--all")
	git(t, dir, "gc", "--quiet")
	check(t, dir)
	linked := filepath.Join(tempDir(t), "linked")
	git(t, dir, "worktree", "add", "--quiet", "--detach", linked)
	check(t, linked)
	if got := readRefOf(t, filepath.Join(dir, ".git"), "refs/heads/main"); got != "-" {
		t.Errorf("a folder without .git is read: %q", got)
	}
}

// Nothing outside of the folder is read, whatever its .git says.
func TestReadRefStaysInside(t *testing.T) {
	victim := normal(t, map[string]string{"a.yaml": "secret"})
	head := git(t, victim, "rev-parse", "HEAD")
	linked := filepath.Join(tempDir(t), "linked")
	git(t, victim, "worktree", "add", "--quiet", "--detach", linked)
	config := "[core]\n\trepositoryformatversion = 0\n"
	for name, prepare := range map[string]func(dir string){
		"file": func(dir string) { write(t, dir, map[string]string{".git": "gitdir: " + victim + "/.git\n"}) },
		"link": func(dir string) { symlink(t, victim+"/.git", dir+"/.git") },
		"others linked": func(dir string) {
			write(t, dir, map[string]string{".git": "gitdir: " + victim + "/.git/worktrees/linked\n"})
		},
		"common": func(dir string) {
			write(t, dir, map[string]string{".git/commondir": victim + "/.git", ".git/HEAD": head, ".git/config": config})
		},
		"alternates": func(dir string) {
			write(t, dir, map[string]string{".git/objects/info/alternates": victim + "/.git/objects\n", ".git/refs/heads/main": head, ".git/config": config, ".git/HEAD": head})
		},
		"linked objects": func(dir string) {
			write(t, dir, map[string]string{".git/refs/heads/main": head, ".git/config": config, ".git/HEAD": head})
			symlink(t, victim+"/.git/objects", dir+"/.git/objects")
		},
		"linked refs": func(dir string) {
			write(t, dir, map[string]string{".git/config": config, ".git/HEAD": head, ".git/objects/x": ""})
			symlink(t, victim+"/.git/refs", dir+"/.git/refs")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			prepare(dir)
			clone, ok := OpenClone(dir)
			if !ok {
				return
			}
			files, err := clone.ReadRef(t.Context(), "refs/heads/main", func(string) bool { return true })
			if err == nil && files != nil {
				t.Error("files of another repository are read")
			}
		})
	}
}

func symlink(t *testing.T, target, at string) {
	t.Helper()
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}

// What a clone lacks of a branch is an error that says how to get it.
func TestReadRefIncomplete(t *testing.T) {
	dir := normal(t, map[string]string{"a.yaml": "first"})
	git(t, dir, "config", "uploadpack.allowFilter", "true")
	partial := filepath.Join(tempDir(t), "partial")
	git(t, "", "clone", "--quiet", "--filter=tree:0", "--no-checkout", "file://"+dir, partial)
	clone, ok := OpenClone(partial)
	if !ok {
		t.Fatal("a partial clone is not opened")
	}
	_, err := clone.ReadRef(t.Context(), "refs/heads/main", func(string) bool { return true })
	if advice := (*advice.Error)(nil); !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "git diff --stat main") {
		t.Errorf("got %v", err)
	}
	write(t, dir, map[string]string{"b.yaml": strings.Repeat("x", 2*limits.FileBytes)})
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=large")
	clone, _ = OpenClone(dir)
	files, err := clone.ReadRef(t.Context(), "refs/heads/main", func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.ReadFile("b.yaml"); !errors.Is(err, ErrLarge) {
		t.Errorf("a large file is read: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clone.ReadRef(ctx, "refs/heads/main", func(string) bool { return true }); err == nil {
		t.Error("a cancelled context is not noticed")
	}
}
