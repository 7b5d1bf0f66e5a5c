package declared

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// TestNothingOfGits: no value comes from what git keeps for itself, where checkout leaves its token,
// however the path leads there and whatever the user allows.
func TestNothingOfGits(t *testing.T) {
	for name, file := range map[string]string{
		"plain":                ".git/config",
		"by the folder itself": "./.git/config",
		"by way of another":    "fleet/../.git/config",
		"in capitals":          ".GIT/config",
		"as NTFS shortens it":  "GIT~1/config",
		"as NTFS trims it":     ".git. ./config",
		"a stream of NTFS":     ".git::$INDEX_ALLOCATION/config",
		"as HFS+ skips it":     ".g\u200cit/config",
		"through a link":       "link",
		"of a submodule":       ".git/modules/x/config",
		"of another work tree": "worktree/.git",
		"kept elsewhere":       "elsewhere/config",
		"of a work tree":       "linked/config.worktree",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "  - {name: x, namespace: flux-system, keys: [{name: a, from: {file: '"+file+"'}}]}\n")
			for path, text := range map[string]string{
				".git/config": "canary", ".git/modules/x/config": "canary", "worktree/.git": "gitdir: ../elsewhere", "elsewhere/config": "canary",
				"elsewhere/HEAD": "ref: x", "elsewhere/objects/x": "x", "elsewhere/refs/x": "x", "linked/HEAD": "x", "linked/commondir": "..", "linked/config.worktree": "canary",
			} {
				at := filepath.Join(f.dir, filepath.FromSlash(path))
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(filepath.Join(f.dir, ".git/config"), filepath.Join(f.dir, "link")); err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{}, {Outside: true}} {
				_, err := f.sync(o)
				var input *advice.Error
				if !errors.As(err, &input) || !strings.Contains(err.Error(), "it belongs to git") || strings.Contains(err.Error()+input.Hint(), "canary") {
					t.Errorf("allowed outside %v: %v", o.Outside, err)
				}
			}
		})
	}
}

// TestBesideGit: files whose names only resemble git's are read.
func TestBesideGit(t *testing.T) {
	for _, file := range []string{".github/value", ".gitignore", "value.git"} {
		f := newFleet(t, "  - {name: x, namespace: flux-system, keys: [{name: a, from: {file: '"+file+"'}}]}\n")
		at := filepath.Join(f.dir, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("value"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.sync(Options{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
