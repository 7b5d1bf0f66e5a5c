package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Each hook runs a command that there is, for every commit: pre-commit skips hooks that get no
// files, and counts deleted files as none (its staged files are those of git diff
// --diff-filter=ACMRTUXB).
func TestPreCommitHooks(t *testing.T) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct {
		ID            string `json:"id"`
		Entry         string `json:"entry"`
		Language      string `json:"language"`
		AlwaysRun     bool   `json:"always_run"`
		PassFilenames *bool  `json:"pass_filenames"`
		Files         string `json:"files"`
	}
	if err := yaml.Unmarshal(text, &hooks); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		id, system := strings.CutSuffix(h.ID, "-system")
		language := "golang"
		if system {
			language = "system"
		}
		if !h.AlwaysRun || h.PassFilenames == nil || *h.PassFilenames || h.Files != "" || h.Language != language {
			t.Errorf("%s doesn't always run on the whole repository: %+v", h.ID, h)
		}
		words := strings.Fields(h.Entry)
		c, args, err := newRoot(streams{env: func(string) string { return "" }}).Find(words[1:])
		if err != nil || words[0] != "fleetwright" || !c.Runnable() || c.ParseFlags(args) != nil {
			t.Errorf("%s: %q is no command: %v", h.ID, h.Entry, err)
		}
		if !strings.Contains(string(readme), "- id: "+id) {
			t.Errorf("the README doesn't show %s", h.ID)
		}
	}
	if len(hooks) == 0 {
		t.Error("no hook is read")
	}
}

// pre-commit runs go install ./... in a clone: the only program of the module is the command. Programs for
// developers have the build tag tools, or a module of their own.
// Source: pre-commit/pre-commit, pre_commit/languages/golang.py (install_environment).
func TestOneProgram(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if programs := strings.Fields(string(out)); len(programs) != 1 || programs[0] != "github.com/fleetwright/fleetwright/cmd/fleetwright" {
		t.Errorf("go install ./... builds %q", programs)
	}
}
