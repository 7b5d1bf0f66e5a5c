package platformtest

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/schemas"
)

// Healthy checks how a Kustomization judges the health of a kind, as Flux evaluates it, with statuses in YAML: some are healthy,
// the others in progress.
func Healthy(t testing.TB, k Object, kind string, healthy, progressing []string) {
	t.Helper()
	expression := Expression(k, kind)
	env, err := schemas.HealthEnv()
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := env.Parse(expression)
	if issues.Err() != nil {
		t.Errorf("%s: %q of a %s: %v", k.Name(), expression, kind, issues.Err())
		return
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	evaluate := func(texts []string, want bool) {
		t.Helper()
		for _, text := range texts {
			var status map[string]any
			if err := yaml.Unmarshal([]byte(text), &status); err != nil {
				t.Fatal(err)
			}
			got, _, err := program.Eval(map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"generation": 1}, "status": status})
			if err != nil || got.Value() != want {
				t.Errorf("%s: %q of a %s with status %s is %v (%v), want %v", k.Name(), expression, kind, text, got, err, want)
			}
		}
	}
	evaluate(healthy, true)
	evaluate(progressing, false)
}
