package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// sumsFile pins a release for the GitHub Action in the same commit: the version that it downloads, the
	// commit and Go version of the build, the SHA-256 of each archive, and one for all files of the release.
	sumsFile      = "action.sums"
	checksumsFile = "checksums.txt"
)

// gitlabTemplate has the version and checksums of sumsFile as variables, because it is included without other
// files.
const gitlabTemplate = "templates/gitlab-ci.yml"

// pins is the content of a sumsFile. archives are the checksums of the archives, by name.
type pins struct {
	version, revision string
	// contents is the SHA-256 over the checksums of all files except the sumsFile.
	contents string
	archives map[string]string
}

var templateVariable = regexp.MustCompile(`(?m)^( +FLEETWRIGHT_(VERSION|SHA256_AMD64|SHA256_ARM64)): ".*"$`)

// variables writes the pins to the variables of gitlabTemplate.
func (p pins) variables(text []byte) []byte {
	return templateVariable.ReplaceAllFunc(text, func(line []byte) []byte {
		name, _, _ := strings.Cut(string(line), ":")
		value := p.version
		if _, arch, ok := strings.Cut(name, "SHA256_"); ok {
			value = p.archives["fleetwright_"+strings.TrimPrefix(p.version, "v")+"_linux_"+strings.ToLower(arch)+".tar.gz"]
		}
		return []byte(fmt.Sprintf("%s: %q", name, value))
	})
}

// readSums reads a sumsFile. A file without a version pins nothing.
func readSums(path string) (pins, error) {
	p := pins{archives: map[string]string{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[0] == "version":
			p.version = words[1]
		case len(words) == 2 && words[0] == "revision":
			p.revision = words[1]
		case len(words) == 2 && words[0] == "contents":
			p.contents = words[1]
		case len(words) == 2 && len(words[0]) == 2*sha256.Size:
			p.archives[words[1]] = words[0]
		}
	}
	return p, err
}

// writeSums writes the sumsFile of this release, after all other files.
func writeSums(r *release, src *source, artifacts []artifact) error {
	contents, err := contents(r.out)
	if err != nil {
		return err
	}
	toolchain, err := toolchain(artifacts)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# The release that action.yml downloads, and its checksums. Written by tools/release.\nversion %s\nrevision %s\ngo %s\ncontents %s\n",
		r.version, src.revision, strings.TrimPrefix(toolchain, "go"), contents)
	for _, a := range artifacts {
		fmt.Fprintf(&out, "%s  %s\n", a.sum, a.name)
	}
	return r.write(sumsFile, out.Bytes())
}

// toolchain returns the Go version that all executables say they were built with.
func toolchain(artifacts []artifact) (string, error) {
	var version string
	for _, a := range artifacts {
		info, err := buildinfo.ReadFile(a.binary)
		if err != nil {
			return "", err
		}
		if version != "" && info.GoVersion != version {
			return "", fmt.Errorf("%s is built with %s, and another with %s", a.name, info.GoVersion, version)
		}
		version = info.GoVersion
	}
	if version == "" {
		return "", errors.New("no executable was built")
	}
	return version, nil
}

// contents returns the SHA-256 over the checksums of all files below a folder except the sumsFile. It covers
// packages and the image, too.
func contents(dir string) (string, error) {
	text, err := sums(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("  "+sumsFile+"\n")) {
			h.Write(line)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// sums returns the SHA-256 of every file below a folder, by path.
func sums(dir string) ([]byte, error) {
	var out bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || e.IsDir() || slices.Contains([]string{checksumsFile, checksumsFile + ".sig"}, rel) {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(content), filepath.ToSlash(rel))
		return err
	})
	return out.Bytes(), err
}

// checksums writes the checksums of the whole folder and, with a key, their signature.
func (r *release) checksums() error {
	text, err := sums(r.out)
	if err != nil {
		return err
	}
	if err := r.write(checksumsFile, text); err != nil || r.key == "" {
		return err
	}
	signature, err := sign(r.key, text)
	if err != nil {
		return err
	}
	return r.write(checksumsFile+".sig", signature)
}

// verify verifies a folder against its checksums. With a key it also verifies their signature, and with the
// path of a sumsFile that the folder is the release that the file pins.
func verify(dir, key, pinned string) error {
	if err := verifyPinned(dir, pinned); err != nil {
		return err
	}
	want, err := os.ReadFile(filepath.Join(dir, checksumsFile))
	if err != nil {
		return err
	}
	if key != "" {
		signature, err := os.ReadFile(filepath.Join(dir, checksumsFile+".sig"))
		if err != nil {
			return err
		}
		if err := verifySignature(key, want, signature); err != nil {
			return err
		}
	}
	got, err := sums(dir)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("the files are not those of " + checksumsFile)
	}
	fmt.Printf("%d files match %s\n", bytes.Count(want, []byte("\n")), checksumsFile)
	return nil
}

// verifyPinned verifies that a folder has exactly the content that a sumsFile pins.
func verifyPinned(dir, pinned string) error {
	if pinned == "" {
		return nil
	}
	p, err := readSums(pinned)
	if err != nil {
		return err
	}
	got, err := contents(dir)
	if err != nil {
		return err
	}
	want, err := os.ReadFile(pinned)
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return err
	}
	if p.contents == "" || got != p.contents || !bytes.Equal(want, own) {
		return fmt.Errorf("the files are not those that %s pins: their checksums have the SHA-256 %s", pinned, got)
	}
	return nil
}

var (
	untilFirst = regexp.MustCompile(`(?m)^ *build: "true" # until the first release\n|^.*<!-- until the first release -->\n\n?| # until the first release$`)
	reference  = regexp.MustCompile(`(fleetwright/fleetwright@|fleetwright/fleetwright:|repo: https://github\.com/fleetwright/fleetwright\n +rev: |\nversion=|\n\$version = "|raw\.githubusercontent\.com/fleetwright/fleetwright/)(main|latest|vX\.Y\.Z|v\d+\.\d+\.\d+[0-9A-Za-z.-]*)`)
	// schemaAddress is the URL from which editors read the schemas. Generated pages contain it, and a release
	// does not change it.
	schemaAddress = "raw.githubusercontent.com/fleetwright/fleetwright/main/schemas"
)

// pinText returns a document with the version replaced by that of the release.
func pinText(text []byte, version string) []byte {
	text = untilFirst.ReplaceAll(text, nil)
	parts := bytes.Split(text, []byte(schemaAddress))
	for i := range parts {
		parts[i] = reference.ReplaceAll(parts[i], []byte("${1}"+version))
	}
	return bytes.Join(parts, []byte(schemaAddress))
}

// pin writes the release to the checkout: the sumsFile, and the version in documents. The commit of these
// changes is then tagged.
func pin(from, source string) error {
	text, err := os.ReadFile(filepath.Join(from, sumsFile))
	if err != nil {
		return err
	}
	p, err := readSums(filepath.Join(from, sumsFile))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(source, sumsFile), text, 0o644); err != nil {
		return err
	}
	for _, pattern := range []string{"README.md", "docs/*.md", "functions/README.md", "functions/*/README.md", gitlabTemplate} {
		names, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			old, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text := pinText(old, p.version)
			if strings.HasSuffix(filepath.ToSlash(name), gitlabTemplate) {
				text = p.variables(text)
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
