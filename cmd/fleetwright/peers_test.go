//go:build peers

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// peers reports whether tests run other tools.
const peers = true

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
