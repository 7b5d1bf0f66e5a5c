package schemas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ours is the schema of a kind in an edition.
func ours(t *testing.T, gvk schema.GroupVersionKind, release string) *Schema {
	t.Helper()
	if s, differs := Edition(gvk, release); differs {
		return s
	}
	s, ok := Lookup(gvk)
	if !ok {
		t.Fatalf("no schema for %s", gvk)
	}
	return s
}

// plainStructure is a schema as plain values, with the rules on transitions alone
// and without messages.
func plainStructure(t *testing.T, s *Schema) any {
	t.Helper()
	return bare(plainRules(t, s))
}

func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			switch {
			case key == "description" && !isSchema(value), key == "example":
			case key == "x-kubernetes-validations":
				if rules := transitions(value); len(rules) > 0 {
					out[key] = rules
				}
			case key == "required":
				names := slices.Clone(value.([]any))
				slices.SortFunc(names, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				out[key] = names
			default:
				out[key] = bare(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = bare(v[i])
		}
		return out
	}
	return v
}

func isSchema(v any) bool { _, object := v.(map[string]any); return object }

func transitions(rules any) []any {
	var out []any
	list, _ := rules.([]any)
	for _, r := range list {
		if expression := fmt.Sprint(r.(map[string]any)["rule"]); strings.Contains(expression, "oldSelf") {
			out = append(out, expression)
		}
	}
	return out
}

// plainRules is a schema as plain values, with all of its rules.
func plainRules(t *testing.T, s *Schema) any {
	t.Helper()
	text, err := json.Marshal(s.structure.ToKubeOpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// k0rdentTexts are values that some patterns of k0rdent's take and others don't.
var k0rdentTexts = []string{"a", "1h", "10m0s", "60s", "", "https://example.com/a", "oci://example.com/a", "ssh://example.com/a", "v1", "A b"}
