package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// filtering is a work tree with a filter that stores files in capitals, and a home that has it.
func filtering(t *testing.T, files map[string]string) (dir string, env func(string) string) {
	t.Helper()
	dir, home := normal(t, files), tempDir(t)
	write(t, home, map[string]string{".gitconfig": "[filter \"up\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired\n"})
	return dir, environ("HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
}

// asUser runs git with a home of the user.
func asUser(t *testing.T, env func(string) string, dir string, args ...string) string {
	t.Helper()
	t.Setenv("HOME", env("HOME"))
	return git(t, dir, append([]string{"-c", "include.path=" + env("HOME") + "/.gitconfig"}, args...)...)
}

// TestFilter stores what the user's filters make of files, and reads what they make of it.
func TestFilter(t *testing.T) {
	dir, env := filtering(t, map[string]string{".gitattributes": "*.up filter=up\n", "a": "1"})
	change := map[string]string{"x.up": "abc\n", "d/y.up": "def\n", "a": "abc\n"}
	for range 2 {
		r, err := open(t, dir, "main", Options{Env: env}).Commit(t.Context(), puts(change), opts("x"))
		if err != nil {
			t.Fatal(err)
		}
		same(t, listing(t, dir, r.Commit), map[string]string{".gitattributes": "100644 *.up filter=up", "x.up": "100644 ABC", "d/y.up": "100644 DEF", "a": "100644 abc"})
		for name, want := range change {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
				t.Errorf("%s is %q: %v", name, data, err)
			}
			if data, err := open(t, dir, "main", Options{Env: env}).ReadFile(name); err != nil || string(data) != want {
				t.Errorf("%s is read as %q: %v", name, data, err)
			}
		}
		if out := asUser(t, env, dir, "status", "--porcelain"); out != "" {
			t.Errorf("status: %s", out)
		}
		sound(t, dir)
	}
	// Rendered in place.
	write(t, dir, map[string]string{"x.up": "ghi\n", "z.up": "new\n"})
	if _, err := open(t, dir, "main", Options{Env: env}).Commit(t.Context(), puts(map[string]string{"x.up": "ghi\n", "z.up": "new\n"}), opts("x")); err != nil {
		t.Fatal(err)
	}
	if out := asUser(t, env, dir, "status", "--porcelain"); out != "" {
		t.Errorf("status: %s", out)
	}
	// A filter that fails.
	write(t, env("HOME"), map[string]string{".gitconfig": "[filter \"up\"]\n\tclean = false\n\trequired\n"})
	_, err := open(t, dir, "main", Options{Env: env}).Commit(t.Context(), puts(map[string]string{"x.up": "4\n"}), opts("x"))
	if err == nil || !strings.Contains(err.Error(), `git cannot convert "x.up"`) {
		t.Errorf("got %v", err)
	}
}

// TestAttributesOfText stores files with the line endings and in the encoding that git stores.
func TestAttributesOfText(t *testing.T) {
	dir := normal(t, map[string]string{".gitattributes": "*.yaml text eol=crlf\n*.id ident\n*.bin -text\n"})
	commitTo(t, dir, "main", Options{}, map[string]string{"a.yaml": "x\r\ny\n", "b.yaml": "x\n", "c.id": "$Id: mine $\n", "d.bin": "x\r\n"})
	clean(t, dir)
	for name, want := range map[string]string{"a.yaml": "x\ny\n", "b.yaml": "x\n", "c.id": "$Id$\n", "d.bin": "x\r\n"} {
		if got, err := open(t, dir, "main", Options{}).ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is stored as %q: %v", name, got, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "b.yaml")); err != nil || string(data) != "x\r\n" {
		t.Errorf("the work tree has %q: %v", data, err)
	}
}

// TestFilterRefused refuses what git would put through a filter, or in another encoding, where no work tree has the branch.
func TestFilterRefused(t *testing.T) {
	for attributes, refused := range map[string]bool{
		"*.bin filter=lfs": true, "[attr]lfs filter=lfs -text\n*.bin lfs": true, "d/** filter=lfs": true, "/d/x.bin working-tree-encoding=UTF-16": true,
		"x.bin filter=lfs": true, "*.txt filter=lfs": false, "*.bin text eol=lf": false, "*.bin filter=lfs\n*.bin -filter": false, "\"\" filter=x": false,
		"*.bin working-tree-encoding=UTF-8": false, "[z filter=lfs": false, "d/ filter=lfs": false, "*.bin filter=a diff=b\n*.bin filter=UTF": true, "*.bin lfs\n[attr]lfs filter=x": true,
	} {
		dir := bare(t)
		commitTo(t, dir, "main", Options{}, map[string]string{".gitattributes": attributes + "\n"})
		_, err := open(t, dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{"d/x.bin": "1", "e/a": "-"}), opts("x"))
		var advice *advice.Error
		if errors.Is(err, ErrFilter) != refused || refused && !errors.As(err, &advice) || !refused && err != nil {
			t.Errorf("%q: %v", attributes, err)
		}
	}
	dir, env := filtering(t, map[string]string{"d/.gitattributes": "*.up filter=up\n"})
	for path, refused := range map[string]bool{"d/x.up": true, "x.up": false} {
		_, err := open(t, dir, "side", Options{Env: env}).Commit(t.Context(), puts(map[string]string{path: "1"}), opts("x"))
		if errors.Is(err, ErrFilter) != refused || err != nil && !strings.Contains(err.Error(), `branch "side" is not checked out`) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestNoGit needs git for work trees alone.
func TestNoGit(t *testing.T) {
	work, shared := normal(t, map[string]string{"a": "1"}), seeded(t)
	linked := seeded(t)
	git(t, linked, "worktree", "add", "-q", filepath.Join(t.TempDir(), "linked"), "main")
	t.Setenv("PATH", t.TempDir())
	for _, dir := range []string{work, linked} {
		_, err := Open(t.Context(), dir, "main", Options{})
		var advice *advice.Error
		if !errors.Is(err, ErrNoGit) || !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "install git") {
			t.Errorf("got %v", err)
		}
	}
	commitTo(t, shared, "main", Options{}, map[string]string{"a": "2"})
}

// TestOwner refuses the repository of another user, as git does.
func TestOwner(t *testing.T) {
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
	for _, dir := range []string{normal(t, nil), bare(t)} {
		home := tempDir(t)
		env := environ("HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		_, err := Open(t.Context(), dir, "main", Options{Env: env})
		var advice *advice.Error
		if !errors.Is(err, ErrOwner) || !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "safe.directory "+dir) {
			t.Errorf("got %v", err)
		}
		write(t, home, map[string]string{".gitconfig": "[safe]\n\tdirectory = " + dir + "\n\tbareRepository = explicit\n"})
		open(t, dir, "main", Options{Env: env})
	}
}
