// Package testflux finds the manifests of Flux that tests use.
package testflux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Manifests returns the folder of Flux's manifests.
func Manifests(tb testing.TB) string {
	tb.Helper()
	dir, err := Folder()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Folder returns the folder of Flux's manifests: FLUX_MANIFESTS, which `make test` sets, or the folder that the Makefile names.
func Folder() (string, error) {
	if dir := os.Getenv("FLUX_MANIFESTS"); dir != "" {
		return dir, nil
	}
	return named()
}

// folder is the package's folder, even if a test changes the working directory.
var folder, _ = os.Getwd()

var named = sync.OnceValues(func() (string, error) {
	module, err := run("go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	dir, err := run("make", "--silent", "--no-print-directory", "-C", filepath.Dir(module), "flux-manifests")
	if err != nil {
		return "", err
	}
	_, err = os.Stat(dir)
	return dir, err
})

func run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = errors.Join(err, errors.New(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
