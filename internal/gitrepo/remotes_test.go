package gitrepo_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
)

func TestRemotes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:me/fleet.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
		"[remote \"upstream\"]\n\turl = https://github.com/you/fleet\n[remote \"near\"]\n\turl = ../fleet.git\n[remote \"disk\"]\n\turl = file:///srv/fleet.git\n[remote \"windows\"]\n\turl = C:/fleet.git\n"
	write("tree/.git/config", config)
	write("tree/below/a.yaml", "")
	write("linked/.git", "gitdir: ../tree/.git\n")
	write("broken/.git/config", "[remote\n")
	write("links/.git/HEAD", "")
	if err := os.Symlink("../../tree/.git/config", filepath.Join(dir, "links/.git/config")); err != nil {
		t.Fatal(err)
	}
	want := []string{"git@github.com:me/fleet.git", "https://github.com/you/fleet"}
	if got := gitrepo.Remotes(filepath.Join(dir, "tree")); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, none := range []string{"tree/below", "linked", "broken", "links", "nowhere"} {
		if got := gitrepo.Remotes(filepath.Join(dir, none)); got != nil {
			t.Errorf("%s: got %q", none, got)
		}
	}
}
