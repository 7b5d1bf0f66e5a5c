package emit

import (
	"bytes"
	"strings"

	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
)

const (
	repository = "fleetwright/fleetwright"
	module     = "github.com/" + repository + "/cmd/fleetwright"
)

// CI writes the starter files for pre-commit and CI, which are the users' from
// then on: hooks are ids of .pre-commit-hooks.yaml, steps are arguments of
// fleetwright. An empty branch lets the workflow run on pushes to any.
func (f *Files) CI(branch string, hooks, steps []string) {
	release := version.Current().Release()
	f.Text(".pre-commit-config.yaml", tree.Once, preCommit(release, hooks))
	f.Text(".github/workflows/validate.yaml", tree.Once, workflow(release, branch, steps))
}

// workflow is a GitHub workflow that uses the release that rendered it. A build that is no
// release cannot be downloaded, so that its workflow builds the newest version.
func workflow(release, branch string, steps []string) []byte {
	push := "  push:\n"
	if branch != "" {
		push += "    branches: [" + branch + "]\n"
	}
	install := `    - uses: ` + repository + `@` + release + `
      with:
        install-only: "true"
`
	if release == "" {
		install = `    - uses: actions/setup-go@v5
      with:
        go-version: stable
    - run: go install ` + module + "@latest\n"
	}
	var b bytes.Buffer
	b.WriteString("name: validate\non:\n  pull_request:\n" + push + `permissions:
  contents: read
jobs:
  fleetwright:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
` + install)
	for _, step := range steps {
		b.WriteString("    - run: fleetwright " + step + "\n")
	}
	return b.Bytes()
}

// entries are the commands of the hooks in .pre-commit-hooks.yaml.
var entries = map[string]string{
	"fleetwright-render-check": "render --check",
	"fleetwright-validate":     "validate",
	"fleetwright-secrets":      "secrets check --staged",
}

// preCommit is a .pre-commit-config.yaml with hooks of ours, pinned to a release. Without
// one, pre-commit builds the newest version.
func preCommit(release string, hooks []string) []byte {
	var b bytes.Buffer
	b.WriteString("# https://pre-commit.com: run \"pre-commit install\" once.\nrepos:\n")
	if release != "" {
		b.WriteString("- repo: https://github.com/" + repository + "\n  rev: " + release + "\n  hooks:\n  - id: " + strings.Join(hooks, "\n  - id: ") + "\n")
		return b.Bytes()
	}
	b.WriteString("- repo: local\n  hooks:\n")
	for _, id := range hooks {
		b.WriteString("  - id: " + id + "\n    name: fleetwright " + entries[id] + "\n    entry: fleetwright " + entries[id] +
			"\n    language: golang\n    additional_dependencies: [" + module + "@latest]\n    always_run: true\n    pass_filenames: false\n")
	}
	return b.Bytes()
}
