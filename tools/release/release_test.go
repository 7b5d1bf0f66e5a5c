package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
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
	if err := verify(r.out, "", ""); err != nil {
		t.Error(err)
	}
	write(t, r.out, "a", "b")
	if verify(r.out, "", "") == nil {
		t.Error("a changed file is accepted")
	}
}

// A folder whose own checksums agree is no release that another revision pins, unless all of its files are the same.
func TestVerifyPinned(t *testing.T) {
	r := release{out: t.TempDir()}
	write(t, r.out, "a", "a")
	write(t, r.out, "image/index.json", "{}")
	digest, err := contents(r.out)
	if err != nil {
		t.Fatal(err)
	}
	text := "version v1.2.3\nrevision abc\ncontents " + digest + "\n"
	pinned := t.TempDir()
	write(t, r.out, sumsFile, text)
	write(t, pinned, sumsFile, text)
	check := func(what string, good bool) {
		t.Helper()
		if err := r.checksums(); err != nil {
			t.Fatal(err)
		}
		if err := verify(r.out, "", filepath.Join(pinned, sumsFile)); (err == nil) != good {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("what is pinned", true)
	write(t, r.out, "image/index.json", "{ }")
	check("another image", false)
	write(t, r.out, "image/index.json", "{}")
	write(t, r.out, sumsFile, text+"# more\n")
	check("other pins", false)
	write(t, r.out, sumsFile, text)
	check("what is pinned, again", true)
	write(t, pinned, sumsFile, "version v1.2.3\nrevision abc\n")
	write(t, r.out, sumsFile, "version v1.2.3\nrevision abc\n")
	check("pins without the contents", false)
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
		"- repo: https://github.com/fleetwright/fleetwright\n  rev: main # until the first release\n- repo: https://github.com/other/other\n  rev: main\nimage: ghcr.io/fleetwright/fleetwright:latest\n\nThere is no release yet. <!-- until the first release -->\n\nversion=vX.Y.Z # the newest\n$version = \"vX.Y.Z\" # the newest\n"+
		"https://raw.githubusercontent.com/fleetwright/fleetwright/main/schemas/x.json\n")
	want := "- uses: fleetwright/fleetwright@v1.2.3\n  with:\n    path: .\n" +
		"- repo: https://github.com/fleetwright/fleetwright\n  rev: v1.2.3\n- repo: https://github.com/other/other\n  rev: main\nimage: ghcr.io/fleetwright/fleetwright:v1.2.3\n\nversion=v1.2.3 # the newest\n$version = \"v1.2.3\" # the newest\n" +
		"https://raw.githubusercontent.com/fleetwright/fleetwright/main/schemas/x.json\n"
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

// Aqua's entry names the archives of a release, as aqua's templates are expanded.
func TestAqua(t *testing.T) {
	r := release{version: "v1.2.3"}
	_, asset, _ := strings.Cut(aqua, "\n  asset: ")
	asset, rest, _ := strings.Cut(asset, "\n")
	formats := regexp.MustCompile(`(?m)^  format: (\S+)\n  overrides:\n  - goos: windows\n    format: (\S+)$`).FindStringSubmatch(rest)
	if formats == nil || !strings.Contains(aqua, "\n    asset: "+checksumsFile+"\n") {
		t.Fatal(aqua)
	}
	for _, p := range allPlatforms {
		goos, arch, _ := strings.Cut(p, "/")
		format := formats[1]
		if goos == "windows" {
			format = formats[2]
		}
		got := strings.NewReplacer("{{trimV .Version}}", "1.2.3", "{{.OS}}", goos, "{{.Arch}}", arch, "{{.Format}}", format).Replace(asset)
		if want := r.archiveName(goos, arch); got != want {
			t.Errorf("aqua reads %s, and the release has %s", got, want)
		}
	}
}

// What is larger than it may be, or does not start, is refused.
func TestWeigh(t *testing.T) {
	if err := within("x", mostBinary, mostBinary); err != nil {
		t.Error(err)
	}
	if err := within("the executable", mostBinary+500_000, mostBinary); err == nil || err.Error() != "the executable has 95.5 MB, more than 95" {
		t.Error(err)
	}
	for script, good := range map[string]bool{"exit 0": true, "exit 1": false} {
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

// The user's file of defaults changes no byte of a release.
func TestSettingsIgnoreTheUsersFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	write(t, filepath.Dir(file), "env", "GOFLAGS=-tags=other\nGOEXPERIMENT=none\nGOPROXY=https://proxy.example.com\n")
	t.Setenv("GOENV", file)
	t.Setenv("GOPROXY", "")
	os.Unsetenv("GOPROXY")
	env, err := settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GOENV=off", "GOFLAGS=", "GOEXPERIMENT=", "GOPROXY=https://proxy.example.com"} {
		if !slices.Contains(env, want) {
			t.Errorf("the settings lack %s: %q", want, env)
		}
	}
	text, err := command(t.Context(), t.TempDir(), env, "go", "env", "GOFLAGS", "GOEXPERIMENT")
	if err != nil || strings.TrimSpace(text) != "" {
		t.Errorf("go env: %v, %q", err, text)
	}
}

// The licences and the SBOM name each module from which the schemas were generated, and the image's licences the module
// with its root certificates.
func TestContained(t *testing.T) {
	src := &source{dir: "../.."}
	list, err := schemaSources(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	m := &modules{list: list}
	licences, err := m.licences()
	if err != nil {
		t.Fatal(err)
	}
	sbom, err := m.spdx(&release{version: "v1.2.3"}, src, &artifact{name: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	provenance, err := os.ReadFile("../../" + provenanceFile)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"module": "(.*)@(.*)"`).FindAllStringSubmatch(string(provenance), -1)
	if len(found) < 100 {
		t.Fatalf("%s has %d schemas from modules", provenanceFile, len(found))
	}
	for _, f := range found {
		if !bytes.Contains(licences, []byte("\n"+f[1]+" "+f[2]+": LICENSE\nThe executable contains schemas ")) {
			t.Errorf("the licences lack %s %s", f[1], f[2])
		}
		if !bytes.Contains(sbom, []byte(`"referenceLocator": "pkg:golang/`+f[1]+"@"+f[2]+`"`)) {
			t.Errorf("the SBOM lacks %s %s", f[1], f[2])
		}
	}
	if !bytes.Contains(licences, []byte("AFFERO")) || !bytes.Contains(licences, []byte(fluxFolder+" are of Flux")) {
		t.Error("the licences don't say what is of Flux in the Flux Operator's module")
	}
	roots, err := rootCertificates(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := roots.licences(); err != nil || !bytes.Contains(text, []byte("\n"+rootsModule+" v0.")) || !bytes.Contains(text, []byte("Mozilla Public License 2.0")) {
		t.Errorf("%v\n%.500s", err, text)
	}
}
