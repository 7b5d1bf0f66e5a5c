package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A build that must fail fails before anything is tested or built, and a user who signs everything needs no key.
func TestReady(t *testing.T) {
	configuration := t.TempDir()
	write(t, configuration, "gitconfig", "[user]\nname = a\nemail = a@example.com\n[tag]\ngpgSign = true\nforceSignAnnotated = true\n[commit]\ngpgSign = true\n[gpg]\nprogram = false\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(configuration, "gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir := t.TempDir()
	write(t, dir, "a", "a")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "commit.gpgSign=false", "commit", "-qm", "a"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	full := t.TempDir()
	write(t, full, "a", "a")
	fine := release{source: dir, version: "v1.2.3", platforms: allPlatforms, out: filepath.Join(t.TempDir(), "out")}
	for want, change := range map[string]func(*release){
		"":                           func(*release) {},
		"is not vX.Y.Z":              func(r *release) { r.version = "" },
		"unknown platform":           func(r *release) { r.platforms = []string{"plan9/amd64"} },
		"is not empty: name another": func(r *release) { r.out = full },
		"name a folder with -out":    func(r *release) { r.out = "" },
	} {
		r := fine
		change(&r)
		if err := r.ready(t.Context()); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	src, err := fine.checkout(t.Context(), filepath.Join(t.TempDir(), "src"))
	if err != nil {
		t.Fatal(err)
	}
	if tag, err := command(t.Context(), src.dir, nil, "git", "tag", "--points-at", src.revision); err != nil || tag != "v1.2.3\n" {
		t.Errorf("the tag is %q, %v", tag, err)
	}
	write(t, dir, "b", "b")
	if err := fine.ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the work tree is not clean:\n?? b") {
		t.Errorf("a changed work tree: %v", err)
	}
}

// The Go version that a release records is that of its executables.
func TestToolchain(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if version, err := toolchain([]artifact{{binary: own}, {binary: own}}); err != nil || version != runtime.Version() {
		t.Errorf("%q, %v", version, err)
	}
	if version, err := toolchain(nil); err == nil {
		t.Errorf("%q, of no executable", version)
	}
}

// The cask installs the man page of each command, under the name that it has in the archives.
func TestCaskManPages(t *testing.T) {
	src := &source{dir: "../.."}
	pages, err := src.pages()
	if err != nil {
		t.Fatal(err)
	}
	r := release{version: "v1.2.3"}
	cask := r.cask(nil, func(artifact) string { return "" }, pages)
	if got := strings.Count(cask, "\n  manpage "); got != len(pages) || got < 20 {
		t.Errorf("%d of %d man pages", got, len(pages))
	}
	if !strings.Contains(cask, "\n  manpage \"man/man1/fleetwright-secrets-check.1\"\n") {
		t.Error(cask)
	}
}
