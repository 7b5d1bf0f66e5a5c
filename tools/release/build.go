package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// release holds the settings of the release to build.
type release struct {
	source, version, out, base, key string
	platforms                       []string
}

var allPlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// artifact is a file in the release folder for one platform.
type artifact struct {
	os, arch    string
	name        string // of the archive
	binary, sum string // the executable's path, and the archive's SHA-256
	licences    []byte // of the linked modules
}

// number returns the version without its v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// archiveName returns the name of the archive for a platform.
func (r *release) archiveName(goos, arch string) string {
	format := "tar.gz"
	if goos == "windows" {
		format = "zip"
	}
	return fmt.Sprintf("fleetwright_%s_%s_%s.%s", r.number(), goos, arch, format)
}

// ready returns an error where build would fail at once: for a wrong version or platform, a folder that is not empty, or
// a work tree that is not clean.
func (r *release) ready(ctx context.Context) error {
	if !versionPattern.MatchString(r.version) {
		return fmt.Errorf("the version %q is not vX.Y.Z", r.version)
	}
	for _, p := range r.platforms {
		if !slices.Contains(allPlatforms, p) {
			return fmt.Errorf("unknown platform %q: want %s", p, strings.Join(allPlatforms, ", "))
		}
	}
	if r.out == "" {
		return errors.New("name a folder with -out")
	}
	there, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(there) > 0 {
		return fmt.Errorf("the folder %q is not empty: name another with -out", r.out)
	}
	return r.clean(ctx)
}

// build writes the release folder, which must be empty or missing.
func (r *release) build(ctx context.Context) error {
	if err := r.ready(ctx); err != nil {
		return err
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
	if err := writeImage(ctx, filepath.Join(r.out, "image"), r, src, artifacts); err != nil {
		return err
	}
	if err := r.packages(src, artifacts); err != nil {
		return err
	}
	if err := writeSums(r, src, artifacts); err != nil {
		return err
	}
	return r.checksums()
}

// archives builds the executables, and packs each with its documents.
func (r *release) archives(ctx context.Context, src *source, work string) ([]artifact, error) {
	var all []artifact
	settings, err := settings(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range r.platforms {
		goos, arch, _ := strings.Cut(p, "/")
		a := artifact{os: goos, arch: arch, name: r.archiveName(goos, arch), binary: filepath.Join(work, goos+"-"+arch, "fleetwright")}
		if goos == "windows" {
			a.binary += ".exe"
		}
		if err := goBuild(ctx, src.dir, settings, p, "build", "-o", a.binary); err != nil {
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

// buildTags excludes gRPC from Google's storage client, which SOPS links for key services but never calls here.
// Source: the package documentation of cloud.google.com/go/storage.
const buildTags = "disable_grpc_modules"

// compile compiles the packages of the executables into Go's cache and links nothing, so that ci.sh can measure a
// build without that.
func (r *release) compile(ctx context.Context) error {
	settings, err := settings(ctx)
	for _, p := range r.platforms {
		err = errors.Join(err, goBuild(ctx, r.source, settings, p, "list", "-export"))
	}
	return err
}

// goBuild runs a command of go on the executable's package, with the flags of a release.
func goBuild(ctx context.Context, dir string, settings []string, platform string, args ...string) error {
	goos, arch, _ := strings.Cut(platform, "/")
	env := slices.Concat(settings, []string{"GOOS=" + goos, "GOARCH=" + arch})
	args = append(args, "-buildvcs=true", "-tags="+buildTags, "-trimpath", "-ldflags=-s -w", "./cmd/fleetwright")
	_, err := command(ctx, dir, env, "go", args...)
	return err
}

// settings returns the environment variables for all builds. GOENV=off ignores the user's configuration file of
// Go, which could change the bytes. The sources of modules and the caches are read from that file first.
func settings(ctx context.Context) ([]string, error) {
	names := []string{"GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOAUTH", "GOMODCACHE", "GOCACHE"}
	text, err := command(ctx, "", nil, "go", append([]string{"env", "-json"}, names...)...)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, err
	}
	out := []string{
		"GOENV=off", "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off",
	}
	for _, name := range names {
		out = append(out, name+"="+values[name])
	}
	return out, nil
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
	if a.licences, err = modules.licences(); err != nil {
		return err
	}
	files := append([]file{{filepath.Base(a.binary), 0o755, content}, {"THIRD_PARTY_LICENSES", 0o644, a.licences}}, documents...)
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

// write writes a file to the release folder.
func (r *release) write(name string, content []byte) error {
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
