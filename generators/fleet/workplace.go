package fleet

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// workplace writes the starter files that belong to the users afterwards: the kpt package, pre-commit and CI.
func workplace(out *emit.Files, spec *v1alpha1.Spec) {
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
	out.CI(spec.Fleet.Spec.Repository.URL, spec.Fleet.Spec.Repository.Branch, hooks, []string{"render --check", "validate"})
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

// hooks are the pre-commit hooks of a platform repository. They check that no secret is committed in plaintext,
// that the rendered files are up to date, and that the repository is valid.
var hooks = []string{"fleetwright-secrets", "fleetwright-render-check", "fleetwright-validate"}
