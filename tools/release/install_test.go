package main

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// blocks are the code blocks of a language in a page.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, part := range strings.Split(string(text), "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		all = append(all, block)
	}
	return all
}

// The script of docs/install.md installs an archive of a release, and nothing where the archive is another.
func TestInstallScript(t *testing.T) {
	scripts := blocks(t, "../../docs/install.md", "sh")
	if len(scripts) != 1 {
		t.Fatalf("docs/install.md has %d scripts", len(scripts))
	}
	r := release{version: "v1.2.3", out: filepath.Join(t.TempDir(), "v1.2.3")}
	pack := func(text string) []byte {
		archive, err := packFiles("a.tar.gz", time.Unix(1700000000, 0), []file{{"LICENSE", 0o644, nil}, {"fleetwright", 0o755, []byte("#!/bin/sh\necho " + text + " $1\n")}})
		if err != nil {
			t.Fatal(err)
		}
		return archive
	}
	const name = "fleetwright_1.2.3_linux_amd64.tar.gz"
	write(t, r.out, name, string(pack("released")))
	write(t, r.out, "image/index.json", "")
	if err := r.checksums(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(r.out))))
	defer server.Close()
	script := regexp.MustCompile(`(?m)^version=v\S+`).ReplaceAllString(scripts[0], "version=v1.2.3") // vX.Y.Z, or the pinned one
	for old, text := range map[string]string{"version=v1.2.3": "version=v1.2.3", "https://github.com/fleetwright/fleetwright/releases/download": server.URL} {
		if !strings.Contains(script, old) {
			t.Fatalf("the script has no %s", old)
		}
		script = strings.ReplaceAll(script, old, text)
	}
	run := func() (string, error) {
		cmd := exec.CommandContext(context.Background(), "sh", "-c", script)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err != nil || !strings.HasSuffix(out, "released version\n") {
		t.Errorf("%v\n%s", err, out)
	}
	write(t, r.out, name, string(pack("another")))
	if out, err := run(); err == nil || strings.Contains(out, "another version") {
		t.Errorf("another archive is installed: %v\n%s", err, out)
	}
}

// docs/install.md names what a release has, and where the README's table leads to is there.
func TestInstallPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ToLower(string(page))
	for _, p := range allPlatforms {
		goos, arch, _ := strings.Cut(p, "/")
		if !strings.Contains(text, goos+"_"+arch) {
			t.Errorf("no %s", p)
		}
	}
	anchors := 0
	for _, part := range strings.Split(string(readme), "docs/install.md#")[1:] {
		anchor, _, _ := strings.Cut(part, ")")
		anchors++
		if !strings.Contains(text, "\n## "+strings.ReplaceAll(anchor, "-", " ")+"\n") && !strings.Contains(text, "\n## "+anchor+"\n") {
			t.Errorf("docs/install.md has no section %s", anchor)
		}
	}
	if anchors < 5 {
		t.Errorf("the README has %d links to docs/install.md", anchors)
	}
}

// Each function's page shows its Kptfile's pipeline with the image in place of the command: what containers.sh runs.
func TestContainerForms(t *testing.T) {
	kptfiles, err := filepath.Glob("../../functions/*/Kptfile")
	if err != nil || len(kptfiles) != 4 {
		t.Fatalf("%d functions, %v", len(kptfiles), err)
	}
	script, err := os.ReadFile("containers.sh")
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := readSums("../../" + sumsFile)
	if err != nil {
		t.Fatal(err)
	}
	image := "image: ghcr.io/fleetwright/fleetwright:" + cmp.Or(pinned.version, "latest")
	for _, kptfile := range kptfiles {
		text, err := os.ReadFile(kptfile)
		if err != nil {
			t.Fatal(err)
		}
		_, pipeline, _ := strings.Cut(string(text), "\npipeline:\n")
		want := strings.ReplaceAll("pipeline:\n"+strings.TrimSuffix(pipeline, "\n"), "exec: fleetwright fn", image)
		page := filepath.Join(filepath.Dir(kptfile), "README.md")
		shown := blocks(t, page, "yaml")
		if !slices.Contains(shown, want) {
			t.Errorf("%s does not show\n%s", page, want)
		}
		function := filepath.Base(filepath.Dir(kptfile))
		if !strings.Contains(string(script), " "+function+" ") && !strings.Contains(string(script), " "+function+";") {
			t.Errorf("containers.sh does not run %s", function)
		}
		_, err = os.Stat(filepath.Join(filepath.Dir(kptfile), "kustomization.yaml"))
		if container := slices.ContainsFunc(shown, func(b string) bool { return strings.HasSuffix(b, "  container:\n    "+image) }); container != (err == nil) {
			t.Errorf("%s shows kustomize's container: %v", page, container)
		}
	}
}

// Before the first release, each page that shows what only a release has says so; what says so is gone once one is pinned.
func TestUntilFirstRelease(t *testing.T) {
	pinned, err := readSums("../../" + sumsFile)
	if err != nil {
		t.Fatal(err)
	}
	needs := regexp.MustCompile(`ghcr\.io/fleetwright/fleetwright:|/templates/gitlab-ci\.yml\n|fleetwright/releases/`)
	marked := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "functions/README.md", "functions/*/README.md"} {
		pages, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			says := untilFirst.Match(text)
			if says {
				marked++
			}
			if pinned.version == "" && needs.Match(text) && !says {
				t.Errorf("%s shows %s, and not that there is none yet", page, needs.Find(text))
			}
			if pinned.version != "" && says {
				t.Errorf("%s says that there is no release: %s", page, untilFirst.Find(text))
			}
		}
	}
	if pinned.version == "" && marked < 8 {
		t.Errorf("%d pages say that there is no release", marked)
	}
}
