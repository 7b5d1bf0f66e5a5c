package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Archives hold the same bytes whenever they are packed.
func TestArchives(t *testing.T) {
	files := []file{{"a", 0o644, []byte("a")}, {"b/c", 0o755, []byte("c")}}
	for _, name := range []string{"x.tar.gz", "x.zip"} {
		var packed [2][]byte
		for i := range packed {
			var err error
			if packed[i], err = packFiles(name, time.Unix(1700000000, 0).UTC(), files); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(packed[0], packed[1]) {
			t.Errorf("%s differs", name)
		}
	}
}

// OpenSSL verifies what cosign's key signs, and another text or key is refused.
func TestSignature(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	t.Setenv(password, "secret")
	for _, d := range []string{dir, other} {
		if err := keygen(d); err != nil {
			t.Fatal(err)
		}
	}
	text := []byte("checksums")
	signature, err := sign(filepath.Join(dir, "cosign.key"), text)
	if err != nil {
		t.Fatal(err)
	}
	public := filepath.Join(dir, "cosign.pub")
	if err := verifySignature(public, text, signature); err != nil {
		t.Error(err)
	}
	if verifySignature(public, []byte("others"), signature) == nil || verifySignature(filepath.Join(other, "cosign.pub"), text, signature) == nil {
		t.Error("another text or key verifies")
	}
	write(t, dir, "text", string(text))
	write(t, dir, "text.sig", string(signature))
	out, err := exec.Command("sh", "-c", `base64 -d "$0/text.sig" > "$0/raw" && openssl dgst -sha256 -verify "$0/cosign.pub" -signature "$0/raw" "$0/text"`, dir).CombinedOutput()
	if err != nil {
		t.Errorf("openssl: %v\n%s", err, out)
	}
	t.Setenv(password, "wrong")
	if _, err := sign(filepath.Join(dir, "cosign.key"), text); err == nil {
		t.Error("a wrong password signs")
	}
}

// A folder with another file, or a changed one, is not what was released.
func TestVerify(t *testing.T) {
	r := release{out: t.TempDir()}
	write(t, r.out, "a", "a")
	if err := r.checksums(); err != nil {
		t.Fatal(err)
	}
	if err := verify(r.out, ""); err != nil {
		t.Error(err)
	}
	write(t, r.out, "a", "b")
	if verify(r.out, "") == nil {
		t.Error("a changed file is accepted")
	}
}

// Documents name the release that is pinned, whatever they named before.
func TestPin(t *testing.T) {
	source, from := t.TempDir(), t.TempDir()
	sum := strings.Repeat("0a", 32)
	write(t, from, sumsFile, "# x\nversion v1.2.3\nrevision abc\n"+sum+"  fleetwright_1.2.3_linux_amd64.tar.gz\n")
	template, err := os.ReadFile("../../" + gitlabTemplate)
	if err != nil {
		t.Fatal(err)
	}
	write(t, source, gitlabTemplate, string(template))
	write(t, source, "README.md", "- uses: fleetwright/fleetwright@main # until the first release\n  with:\n    build: \"true\" # until the first release\n    path: .\n"+
		"- repo: https://github.com/fleetwright/fleetwright\n  rev: main # until the first release\n- repo: https://github.com/other/other\n  rev: main\nimage: ghcr.io/fleetwright/fleetwright:latest\n\nThere is no release yet. <!-- until the first release -->\n\nversion=vX.Y.Z # the newest\n")
	want := "- uses: fleetwright/fleetwright@v1.2.3\n  with:\n    path: .\n" +
		"- repo: https://github.com/fleetwright/fleetwright\n  rev: v1.2.3\n- repo: https://github.com/other/other\n  rev: main\nimage: ghcr.io/fleetwright/fleetwright:v1.2.3\n\nversion=v1.2.3 # the newest\n"
	for range 2 {
		if err := pin(from, source); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(source, "README.md"))
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
	template, err = os.ReadFile(filepath.Join(source, gitlabTemplate))
	if text := string(template); err != nil || !strings.Contains(text, "/fleetwright/v1.2.3/templates/") ||
		!strings.Contains(text, "\n    FLEETWRIGHT_VERSION: \"v1.2.3\"\n    FLEETWRIGHT_SHA256_AMD64: \""+sum+"\"\n    FLEETWRIGHT_SHA256_ARM64: \"\"\n    FLEETWRIGHT_PATH: \".\"\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if p, err := readSums(filepath.Join(source, sumsFile)); err != nil || p.version != "v1.2.3" || p.revision != "abc" {
		t.Errorf("%+v, %v", p, err)
	}
}

// Man reads the pages that are made of docs/cli.
func TestManPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/cli/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		man := string(manPage("fleetwright-x", "1.2.3", "January 2026", string(text)))
		for _, want := range []string{".TH \"FLEETWRIGHT-X\" \"1\"", ".SH Name", ".SH Synopsis"} {
			if !strings.Contains(man, want) {
				t.Errorf("%s: no %s:\n%.400s", page, want, man)
			}
		}
	}
}

func TestLicenceNames(t *testing.T) {
	for name, want := range map[string]bool{"LICENSE": true, "LICENSE.txt": true, "COPYING": true, "NOTICE.md": true, "LICENSE-3rdparty.csv": true, "licensing": false, "main": false} {
		if licenceName.MatchString(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// What is larger than it may be, or starts too slowly, is refused.
func TestWeigh(t *testing.T) {
	if err := within("x", mostBinary, mostBinary); err != nil {
		t.Error(err)
	}
	if err := within("the executable", mostBinary+1<<19, mostBinary); err == nil || err.Error() != "the executable has 95.5 MB, more than 95" {
		t.Error(err)
	}
	for script, good := range map[string]bool{"exit 0": true, "awk 'BEGIN {for (i = 0; i < 12000000; i++) x += i}'": false, "exit 1": false} {
		dir := t.TempDir()
		archive, err := packFiles("a.tar.gz", time.Unix(1700000000, 0), []file{{"fleetwright", 0o755, []byte("#!/bin/sh\n" + script + "\n")}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "fleetwright_1.2.3_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz", string(archive))
		if err := weigh(t.Context(), dir); (err == nil) != good {
			t.Errorf("%s: %v", script, err)
		}
	}
	if weigh(t.Context(), t.TempDir()) == nil {
		t.Error("a folder without an archive is fine")
	}
}
