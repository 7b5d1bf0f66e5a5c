package repository

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/limits"
)

func TestLacks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"apps/a.yaml": "", ".gitignore": "*.gen.yaml\n/build/\n!kept.gen.yaml\n", "apps/.gitignore": "local\n", ".sourceignore": "hidden/\n", "hidden/b.yaml": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("apps", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	load := func() *Repository {
		repo, err := Load(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return repo
	}
	repo := load()
	for at, want := range map[string]bool{
		".": false, "apps": false, "apps/a.yaml": false, "apps/b.yaml": true, "base": true, "a.yaml": true,
		"x.gen.yaml": false, "apps/x.gen.yaml": false, "kept.gen.yaml": true, "build": false, "build/c.yaml": false, "apps/build": true,
		"apps/local": false, "apps/local/c.yaml": false, "local": true, "hidden": false, "hidden/b.yaml": false, "hidden/c.yaml": true,
		"link": false, "link/b.yaml": false,
	} {
		if got := repo.Lacks(at); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "apps", ".gitignore"), []byte(strings.Repeat("x*\n", limits.IgnorePatterns)), 0o644); err != nil {
		t.Fatal(err)
	}
	if load().Lacks("base") {
		t.Error("there are more patterns than are tried")
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitmodules"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if load().Lacks("base") {
		t.Error("a submodule may bring it")
	}
}

func TestLeftOutBy(t *testing.T) {
	files := map[string]string{
		".sourceignore": "# of the cluster\n\n/*\n!/apps\n" + strings.Repeat("# more\n", 1000) + "/apps/old\n", "apps/.sourceignore": "*.md\n!kept.md\n",
		"apps/old/a.yaml": "", "apps/b.md": "", "apps/kept.md": "", "apps/c.yaml": "", "base/a.yaml": "", "apps/d.png": "",
	}
	repo := inMemory(t, archiveOf(files), Limits{})
	for at, want := range map[string]string{
		"apps/old": ".sourceignore:1005", "apps/old/a.yaml": ".sourceignore:1005", "apps/b.md": "apps/.sourceignore:1", "apps/kept.md": "", "apps/c.yaml": "",
		"base": ".sourceignore:3", "base/a.yaml": ".sourceignore:3", "none": "",
	} {
		if got := repo.LeftOutBy(at); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}

// archiveOf returns files in txtar form.
func archiveOf(files map[string]string) string {
	var b strings.Builder
	for name, text := range files {
		b.WriteString("-- " + name + " --\n" + text)
	}
	return b.String()
}

// TestAbsenceOfASocket: something that is not a regular file is named by its type.
func TestAbsenceOfASocket(t *testing.T) {
	t.Chdir(t.TempDir()) // the address of a socket is short
	listener, err := net.Listen("unix", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	repo, err := Load(".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := repo.Absence("s"), "s is not a regular file, which source-controller leaves out"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
