//go:build unix

package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPipes: a pipe in the place of any of git's files ends a read, also of what is packed. None
// is read as if it were empty.
func TestPipes(t *testing.T) {
	for _, c := range []struct {
		name   string
		packed bool
	}{
		{".git", false}, {".git/config", false}, {".git/HEAD", false}, {".git/refs/heads/main", false}, {".git/commondir", false}, {".git/objects/info/alternates", false},
		{".git/packed-refs", true}, {".git/objects/pack/*.pack", true}, {".git/objects/pack/*.idx", true}, {".git/objects/??/*", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tempDir(t)
			git(t, dir, "init", "--quiet", "--initial-branch=main")
			if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("a"), 0o600); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "add", "--all")
			git(t, dir, "commit", "--quiet", "--message", "first")
			if c.packed {
				git(t, dir, "gc", "--quiet")
			}
			at := []string{filepath.Join(dir, c.name)}
			if found, err := filepath.Glob(at[0]); err == nil && len(found) > 0 {
				at = found
			}
			for _, file := range at {
				if err := errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Dir(file), 0o755), unix.Mkfifo(file, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := ReadRevision(t.Context(), dir, "HEAD"); err == nil && c.name != ".git/objects/info/alternates" {
				t.Error("the revision is read")
			}
		})
	}
}
