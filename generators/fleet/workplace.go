package fleet

import (
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// workplace writes the starter files that are the users' from then on: the kpt
// package, pre-commit and CI.
func workplace(out *emit.Files) {
	out.YAML("Kptfile", tree.Once,
		"A kpt package: `kpt fn render --allow-exec` validates it.", kptfile{
			APIVersion: "kpt.dev/v1", Kind: "Kptfile",
			Metadata: map[string]any{
				"name":        "platform",
				"annotations": map[string]any{"config.kubernetes.io/local-config": "true"},
			},
			Info:     map[string]any{"description": "Platform repository of a Flux fleet."},
			Pipeline: map[string]any{"validators": []any{validator{"fleetwright fn", map[string]string{"function": "ValidateFleet"}}}},
		})
	out.Text(".pre-commit-config.yaml", tree.Once, PreCommit())
	out.Text(".github/workflows/validate.yaml", tree.Once, []byte(workflow))
}

type kptfile struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Info       map[string]any `json:"info"`
	Pipeline   map[string]any `json:"pipeline"`
}

type validator struct {
	Exec      string            `json:"exec"`
	ConfigMap map[string]string `json:"configMap"`
}

// PreCommit is the platform repository's .pre-commit-config.yaml: the tree is
// what the specification says, and it is valid.
func PreCommit() []byte {
	return []byte(`# https://pre-commit.com: run "pre-commit install" once.
repos:
- repo: https://github.com/fleetwright/fleetwright
  rev: v0.1.0
  hooks:
  - id: fleetwright-render-check
  - id: fleetwright-validate
`)
}

const workflow = `name: validate
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  fleetwright:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - uses: actions/setup-go@v5
      with:
        go-version: stable
    - run: go install github.com/fleetwright/fleetwright/cmd/fleetwright@v0.1.0
    - run: fleetwright render --check
    - run: fleetwright validate
`
