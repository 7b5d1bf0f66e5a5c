package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if made, err := Create(dir); !made || err != nil {
		t.Fatalf("made %v, error %v", made, err)
	}
	status := git(t, dir, "status", "--porcelain=v2", "--branch", "--untracked-files=all")
	if !strings.Contains(status, "# branch.head main") || !strings.HasSuffix(strings.TrimSpace(status), "? mine") {
		t.Errorf("git status: %s", status)
	}
	git(t, dir, "fsck", "--strict")
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, below} {
		if made, err := Create(d); made || err != nil {
			t.Errorf("%s, in a repository: made %v, error %v", d, made, err)
		}
	}
}
