package platform

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/limits"
)

func TestSelects(t *testing.T) {
	t.Parallel()
	labels := map[string]any{"env": "dev", "tier": "web", "odd": map[string]any{"a": "b"}}
	for text, want := range map[string]bool{
		"{}":                           true,
		"{matchLabels: {env: dev}}":    true,
		"{matchLabels: {env: prod}}":   false,
		"{matchLabels: {odd: {a: b}}}": false,
		"{matchExpressions: [{key: env, operator: In, values: [dev, prod]}]}":          true,
		"{matchExpressions: [{key: env, operator: NotIn, values: [dev]}]}":             false,
		"{matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}":              true,
		"{matchExpressions: [{key: tier, operator: Exists}]}":                          true,
		"{matchExpressions: [{key: tier, operator: DoesNotExist}]}":                    false,
		"{matchExpressions: [{key: odd, operator: In, values: [{a: b}]}]}":             false,
		"{matchLabels: {env: dev}, matchExpressions: [{key: zone, operator: Exists}]}": false,
	} {
		if got := Selects(selectorOf(t, text), labels); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func selectorOf(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// What a selector that excludes itself asks for can't be, whatever the labels.
func TestNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}":                    "",
		"{matchLabels: {a: b}}": "",
		"{matchLabels: {a: 1}}": "", // told by the schema
		"{matchLabels: {a: \"${B}\"}, matchExpressions: [{key: a, operator: NotIn, values: [b]}]}":                "",
		"{matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: a, operator: In, values: [c, d]}]}":    "",
		"{matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: a, operator: NotIn, values: [c]}]}":    "",
		"{matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: a, operator: NotIn, values: [c, b]}]}": "its conditions for \"a\" exclude each other",
		"{matchExpressions: [{key: a, operator: Exists}, {key: a, operator: DoesNotExist}]}":                      "its conditions for \"a\" exclude each other",
		"{matchExpressions: [{key: a, operator: NotIn, values: [b]}, {key: a, operator: DoesNotExist}]}":          "",
		"{matchExpressions: [{key: a, operator: \"${OP}\", values: [b]}]}":                                        "",
		"{matchExpressions: [{key: a, operator: In}]}":                                                            "In of \"a\" has no values",
	} {
		if got := Nothing(selectorOf(t, text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A repository that names many things wrongly gets no hints after a while.
func TestHintsEnd(t *testing.T) {
	t.Parallel()
	var h Hints
	w := &ManagementCluster{}
	many := make([]string, limits.Comparisons/10)
	many[0] = "reloader"
	for range mostHints {
		if h.Nearest("reloadr", many[:1]) == "" {
			t.Fatal("no hint")
		}
	}
	var fresh Hints
	if near := fresh.Nearest("strict", []string{"lenient"}); near != "" {
		t.Errorf("%q for what is far from it", near)
	}
	if near := h.Nearest("reloadr", many[:1]); near != "" {
		t.Errorf("still %q", near)
	}
	for range 10 {
		if w.TypoOf("reloadr", many) == "" {
			t.Fatal("no slip")
		}
	}
	if near := w.TypoOf("reloadr", many); near != "" {
		t.Errorf("still %q", near)
	}
}
