package emit

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// A release is pinned; any other build names no version, since none could be downloaded.
func TestCI(t *testing.T) {
	hooks := []string{"fleetwright-secrets", "fleetwright-validate"}
	for _, c := range []struct{ name, text, want, not string }{
		{"workflow of a release", string(workflow("v1.2.3", "main", []string{"validate"})), "- uses: fleetwright/fleetwright@v1.2.3\n", "setup-go"},
		{"workflow", string(workflow("", "main", []string{"validate"})), "cmd/fleetwright@latest\n", "fleetwright@v"},
		{"hooks of a release", string(preCommit("v1.2.3", hooks)), "  rev: v1.2.3\n", "latest"},
		{"hooks", string(preCommit("", hooks)), "additional_dependencies: [github.com/fleetwright/fleetwright/cmd/fleetwright@latest]", "rev:"},
	} {
		if !strings.Contains(c.text, c.want) || strings.Contains(c.text, c.not) {
			t.Errorf("%s: want %q and no %q:\n%s", c.name, c.want, c.not, c.text)
		}
		if err := yaml.Unmarshal([]byte(c.text), new(map[string]any)); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, c.text)
		}
	}
}

// The hooks that are written out do what those of .pre-commit-hooks.yaml do.
func TestHooks(t *testing.T) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry, Language string }
	if err := yaml.Unmarshal(text, &hooks); err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		if id := strings.TrimSuffix(h.ID, "-system"); h.Entry != "fleetwright "+entries[id] {
			t.Errorf("%s runs %q, and is written out as %q", h.ID, h.Entry, entries[id])
		}
	}
}
