package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/testuser"
)

// Nothing that a repository's configuration or hooks name is executed, but for filters that attributes ask for.
func TestNothingIsExecuted(t *testing.T) {
	remote := seeded(t)
	dir := cloned(t, remote)
	proof := filepath.Join(t.TempDir(), "executed")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+proof+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-index-change", "reference-transaction", "pre-push", "post-checkout", "fsmonitor-watchman"} {
		path := filepath.Join(dir, ".git", "hooks", hook)
		write(t, dir, map[string]string{".git/hooks/" + hook: "#!/bin/sh\n" + script + "\n"})
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass", "core.gitProxy", "credential.helper",
		"gpg.program", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.external", "remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.vcs", "alias.push"} {
		if f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0); err != nil {
			t.Fatal(err)
		} else {
			section, name := key[:strings.LastIndexByte(key, '.')], key[strings.LastIndexByte(key, '.')+1:]
			head, sub, has := strings.Cut(section, ".")
			if has {
				head += ` "` + sub + `"`
			}
			if _, err := f.WriteString("[" + head + "]\n\t" + name + " = " + script + "\n"); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, dir, map[string]string{".git/info/attributes": "* diff=evil\n"})
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "2"})
	commitTo(t, dir, "main", Options{Push: true}, map[string]string{"a": "3"})
	if _, _, err := ResolveAuthor("A <a@b>", lookup(), dir, now); err != nil {
		t.Error(err)
	}
	if exists(proof) {
		t.Error("something was executed")
	}
	same(t, listing(t, remote, "main"), map[string]string{"a": "100644 3", "d/b": "100644 1"})
}

// A repository from a stranger says that its main work tree is the user's home.
func TestForeignWorktree(t *testing.T) {
	home := t.TempDir()
	write(t, home, map[string]string{"mine": "1"})
	evil := normal(t, map[string]string{"a": "1"})
	git(t, evil, "worktree", "add", "-q", "-b", "side", "linked")
	git(t, evil, "config", "core.worktree", home)
	linked := filepath.Join(evil, "linked")
	_, err := open(t, linked, "main", Options{}).Commit(t.Context(), puts(map[string]string{".bashrc": "evil"}), opts("x"))
	if !errors.Is(err, ErrUnsupported) || exists(filepath.Join(home, ".bashrc")) {
		t.Errorf("got %v", err)
	}
	// The same with a list of work trees that points out of the repository.
	dir := normal(t, map[string]string{"a": "1"})
	git(t, dir, "checkout", "-q", "--detach")
	write(t, home, map[string]string{".git": "gitdir: " + t.TempDir() + "\n"})
	write(t, dir, map[string]string{".git/worktrees/x/gitdir": home + "/.git\n", ".git/worktrees/x/HEAD": "ref: refs/heads/main\n", ".git/worktrees/x/commondir": "../..\n"})
	_, err = open(t, dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{".bashrc": "evil"}), opts("x"))
	if !errors.Is(err, ErrUnsupported) || exists(filepath.Join(home, ".bashrc")) {
		t.Errorf("got %v", err)
	}
}

// Folders of the work tree that are links lead nowhere.
func TestNoWriteThroughLinks(t *testing.T) {
	outside := t.TempDir()
	dir := normal(t, map[string]string{"d/a": "1"})
	if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	write(t, outside, map[string]string{"a": "1"})
	if err := os.Symlink(outside, filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	for _, files := range []map[string]string{{"d/a": "2"}, {"d/new": "2"}, {"d/a": "-"}} {
		if _, err := open(t, dir, "main", Options{}).Commit(t.Context(), puts(files), opts("x")); !errors.Is(err, ErrDirty) {
			t.Errorf("%v: got %v", files, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(outside, "a")); err != nil || string(data) != "1" {
		t.Errorf("%q %v", data, err)
	}
}

func TestReadOnlyRepository(t *testing.T) {
	if testuser.Again(t) {
		return
	}
	dir := seeded(t)
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o555)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
			if d.IsDir() {
				return os.Chmod(path, 0o777)
			}
			return nil
		})
	})
	b := open(t, dir, "main", Options{})
	if _, err := b.ReadFile("a"); err != nil {
		t.Error(err)
	}
	if _, err := b.Commit(t.Context(), puts(map[string]string{"a": "2"}), opts("x")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestBareWithLinkedWorktree(t *testing.T) {
	dir := seeded(t)
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", linked, "main")
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "2"})
	clean(t, linked)
	sound(t, dir)
}
