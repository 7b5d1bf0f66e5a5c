package emit

import (
	"bytes"
	"strings"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// Release is the version of Fleetwright that generated CI files use.
const Release = "v0.1.0"

// CI writes the starter files for pre-commit and CI, which are the users' from
// then on: hooks are ids of .pre-commit-hooks.yaml, steps are arguments of
// fleetwright. An empty branch lets the workflow run on pushes to any.
func (f *Files) CI(branch string, hooks, steps []string) {
	f.Text(".pre-commit-config.yaml", tree.Once, PreCommit(hooks...))
	push := "  push:\n"
	if branch != "" {
		push += "    branches: [" + branch + "]\n"
	}
	var b bytes.Buffer
	b.WriteString("name: validate\non:\n  pull_request:\n" + push + `permissions:
  contents: read
jobs:
  fleetwright:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - uses: actions/setup-go@v5
      with:
        go-version: stable
    - run: go install github.com/fleetwright/fleetwright/cmd/fleetwright@` + Release + "\n")
	for _, step := range steps {
		b.WriteString("    - run: fleetwright " + step + "\n")
	}
	f.Text(".github/workflows/validate.yaml", tree.Once, b.Bytes())
}

// PreCommit is a .pre-commit-config.yaml with hooks of ours.
func PreCommit(hooks ...string) []byte {
	return []byte(`# https://pre-commit.com: run "pre-commit install" once.
repos:
- repo: https://github.com/fleetwright/fleetwright
  rev: ` + Release + `
  hooks:
  - id: ` + strings.Join(hooks, "\n  - id: ") + "\n")
}
