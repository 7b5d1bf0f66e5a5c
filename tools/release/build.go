package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// release is what is built.
type release struct {
	source, version, out, base, key string
	platforms                       []string
}

var allPlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// artifact is a file of the release folder for one platform.
type artifact struct {
	os, arch    string
	name        string // of the archive
	binary, sum string // the executable's path, and the archive's SHA-256
}

// number is the version without its v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// build writes the release folder, which must be empty or missing.
func (r *release) build(ctx context.Context) error {
	if !versionPattern.MatchString(r.version) {
		return fmt.Errorf("the version %q is not vX.Y.Z", r.version)
	}
	for _, p := range r.platforms {
		if !slices.Contains(allPlatforms, p) {
			return fmt.Errorf("unknown platform %q: want %s", p, strings.Join(allPlatforms, ", "))
		}
	}
	if there, _ := os.ReadDir(r.out); r.out == "" || len(there) > 0 {
		return fmt.Errorf("the folder %q is not empty: name another with -out", r.out)
	}
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	src, err := r.checkout(ctx, filepath.Join(work, "src"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	artifacts, err := r.archives(ctx, src, work)
	if err != nil {
		return err
	}
	if err := writeImage(filepath.Join(r.out, "image"), r, src, artifacts); err != nil {
		return err
	}
	if err := r.packages(artifacts); err != nil {
		return err
	}
	if err := writeSums(r, src, artifacts); err != nil {
		return err
	}
	return r.checksums()
}

// archives builds the executables and packs each with its documents.
func (r *release) archives(ctx context.Context, src *source, work string) ([]artifact, error) {
	var all []artifact
	for _, p := range r.platforms {
		goos, arch, _ := strings.Cut(p, "/")
		a := artifact{os: goos, arch: arch, binary: filepath.Join(work, goos+"-"+arch, "fleetwright")}
		a.name = fmt.Sprintf("fleetwright_%s_%s_%s.tar.gz", r.number(), goos, arch)
		if goos == "windows" {
			a.binary, a.name = a.binary+".exe", strings.TrimSuffix(a.name, ".tar.gz")+".zip"
		}
		env := []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT="}
		if _, err := command(ctx, src.dir, env, "go", "build", "-buildvcs=true", "-trimpath", "-ldflags=-s -w", "-o", a.binary, "./cmd/fleetwright"); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	documents, err := r.documents(ctx, src, work)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if err := r.pack(ctx, &all[i], src, documents); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pack writes one archive and the SBOM of its executable.
func (r *release) pack(ctx context.Context, a *artifact, src *source, documents []file) error {
	content, err := os.ReadFile(a.binary)
	if err != nil {
		return err
	}
	if err := within("the executable of "+a.name, len(content), mostBinary); err != nil {
		return err
	}
	modules, err := linked(ctx, src, a.binary)
	if err != nil {
		return err
	}
	if modules.version != r.version {
		return fmt.Errorf("%s says that it is %s, not %s", a.name, modules.version, r.version)
	}
	licences, err := modules.licences()
	if err != nil {
		return err
	}
	files := append([]file{{filepath.Base(a.binary), 0o755, content}, {"THIRD_PARTY_LICENSES", 0o644, licences}}, documents...)
	slices.SortFunc(files, func(x, y file) int { return strings.Compare(x.name, y.name) })
	archive, err := packFiles(a.name, src.time, files)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(archive)
	a.sum = hex.EncodeToString(digest[:])
	sbom, err := modules.spdx(r, src, a, content)
	if err != nil {
		return err
	}
	return errors.Join(r.write(a.name, archive), r.write(a.name+".spdx.json", sbom))
}

// write writes a file of the release folder.
func (r *release) write(name string, content []byte) error {
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
