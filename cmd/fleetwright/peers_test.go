//go:build peers

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// peers reports whether tests run other tools.
const peers = true

// TestActionWithCurl downloads a release with the real curl, and refuses another one.
func TestActionWithCurl(t *testing.T) {
	a, _ := readAction(t)
	dir := t.TempDir()
	writeFiles(t, dir, "fleetwright", "#!/bin/sh\n")
	place := releaseOf(t, filepath.Join(dir, "fleetwright"), t.TempDir())
	if status, output, _ := place.run(t, a, map[string]string{"install-only": "true"}); status != 0 {
		t.Errorf("the action ends with %d:\n%s", status, output)
	}
	if got, err := filepath.Glob(filepath.Join(place.temp, "fleetwright.*", "fleetwright")); err != nil || len(got) != 1 {
		t.Errorf("downloaded is %q, %v", got, err)
	}
	refusesOthers(t, a, place, dir)
}

// TestGitLabTemplateWithWget is TestGitLabTemplate with the real wget, which reads no folder.
func TestGitLabTemplateWithWget(t *testing.T) {
	checkGitLabTemplate(t, func(folder string) string {
		server := httptest.NewServer(http.FileServer(http.Dir(folder)))
		t.Cleanup(server.Close)
		return server.URL
	})
}

// TestScriptsWithTools runs the scripts that call kpt, kustomize and sops.
func TestScriptsWithTools(t *testing.T) {
	files, err := filepath.Glob("testdata/tools/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\n[peers] ")) {
			files = append(files, file)
		}
	}
	runScripts(t, files)
}
