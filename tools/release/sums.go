package main

import (
	"bytes"
	"crypto/sha256"
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
	// sumsFile is what the Action's own revision pins: the version that it downloads, the commit that was
	// built, and the SHA-256 of each archive.
	sumsFile      = "action.sums"
	checksumsFile = "checksums.txt"
)

// gitlabTemplate has the version and checksums of sumsFile as variables: it is included without other files.
const gitlabTemplate = "templates/gitlab-ci.yml"

// pins are what a sumsFile says; the checksums are those of archives, by name.
type pins struct {
	version, revision string
	archives          map[string]string
}

var templateVariable = regexp.MustCompile(`(?m)^( +FLEETWRIGHT_(VERSION|SHA256_AMD64|SHA256_ARM64)): ".*"$`)

// variables writes the pins into the variables of gitlabTemplate.
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

// readSums reads a sumsFile; one without a version pins nothing.
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
		case len(words) == 2 && len(words[0]) == 2*sha256.Size:
			p.archives[words[1]] = words[0]
		}
	}
	return p, err
}

// writeSums writes the sumsFile of this release.
func writeSums(r *release, src *source, artifacts []artifact) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# The release that action.yml downloads, and its checksums. Written by tools/release.\nversion %s\nrevision %s\n", r.version, src.revision)
	for _, a := range artifacts {
		fmt.Fprintf(&out, "%s  %s\n", a.sum, a.name)
	}
	return r.write(sumsFile, out.Bytes())
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

// checksums writes the checksums of the whole folder, and their signature.
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

// verify checks a folder against its checksums, and with a key their signature.
func verify(dir, key string) error {
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
	fmt.Printf("%d files are those of %s\n", bytes.Count(want, []byte("\n")), checksumsFile)
	return nil
}

var (
	untilFirst = regexp.MustCompile(`(?m)^ *build: "true" # until the first release\n|^.*<!-- until the first release -->\n\n?| # until the first release$`)
	reference  = regexp.MustCompile(`((?:fleetwright/fleetwright@|fleetwright/fleetwright:|raw\.githubusercontent\.com/fleetwright/fleetwright/|repo: https://github\.com/fleetwright/fleetwright\n +rev: |\nversion=))(main|latest|vX\.Y\.Z|v\d+\.\d+\.\d+[0-9A-Za-z.-]*)`)
)

// pin writes the release into the checkout: the sumsFile, and the version that documents name. The
// commit of that is what the tag names.
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
			text := reference.ReplaceAll(untilFirst.ReplaceAll(old, nil), []byte("${1}"+p.version))
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
