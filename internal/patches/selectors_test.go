package patches

import (
	"strings"
	"testing"
)

// TestCountSelectors: what kustomize takes for a regular expression is counted, wherever it stands, and
// nothing else that a field of the same name holds.
func TestCountSelectors(t *testing.T) {
	const large = "((abcdefgh){25}){30}"
	panel := `{"panels": [{"targets": [{"expr": "sum(rate(x{` + strings.Repeat(`job=~\"a|b\",`, 400) + `}[5m])) * ` + strings.Repeat("(x{0}) ", 500) + `"}]}]}`
	for _, c := range []struct {
		name, text string
		counted    bool
	}{
		{"a patch", "patches:\n- {target: {name: '" + large + "'}, patch: ''}\n", true},
		{"a kind", "patches:\n- {target: {kind: '" + large + "'}, patch: ''}\n", true},
		{"a replacement", "replacements:\n- targets:\n  - select: {namespace: '" + large + "'}\n    reject: [{name: b}]\n", true},
		{"what is rejected", "replacements:\n- targets:\n  - reject: [{name: a}, {group: '" + large + "'}]\n", true},
		{"an alias of a selector", "x: &t {name: '" + large + "'}\npatches:\n- {target: *t}\n", true},
		{"an alias of a list", "x: &t [{name: '" + large + "'}]\ny:\n- {reject: *t}\n", true},
		{"an alias of a name", "x: &n '" + large + "'\npatches:\n- {target: {name: *n}}\n", true},
		{"a merge", "x: &t {name: '" + large + "'}\npatches:\n- {target: {<<: *t, kind: Pod}}\n", true},
		{"a text that holds a file", "transformers:\n- |\n  kind: PatchTransformer\n  target: {name: '" + large + "'}\n", true},
		{"a short name", "patches:\n- {target: {name: 'a{1,3}-.*'}}\n", false},
		{"labels", "patches:\n- {target: {labelSelector: '" + large + "'}}\n", false},
		{"a dashboard of Grafana", panel, false},
		{"an alias of itself", "x: &t\n- *t\n- {reject: *t, name: 'a{2}'}\n", false},
	} {
		if err := CountSelectors([]byte(c.text)); (err != nil) != c.counted {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
