package repository

import (
	"slices"
	"strings"
	"testing"
)

// The inputs that a Secret's template takes are secrets, however it takes them; others are not.
func TestSecretInputs(t *testing.T) {
	for template, hidden := range map[string]string{
		"<< inputs.seed >>":                           "first",
		"\"before << inputs.seed >> after\"":          "first",
		"<< inputs.seed | quote >>":                   "first",
		"<< inputs.größe >>":                          "second",
		"<< index inputs \"seed\" >>":                 "first second third",
		"<< with inputs >><< .seed >><< end >>":       "first second third",
		"<< range $k, $v := inputs >><< $v >><<end>>": "first second third",
		"<< inputs.seedling >>":                       "",
		"a text of nothing":                           "",
	} {
		text := "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: b}\nspec:\n  inputs:\n" +
			"    - {seed: first-Zk8sPq31xw7v, größe: second-Zk8sPq31xw7v, tenant: third-Zk8sPq31xw7v}\n  resourcesTemplate: |\n" +
			"    apiVersion: v1\n    kind: Secret\n    metadata: {name: c, namespace: d}\n    stringData: {word: " + template + "}\n"
		got := inMemory(t, "-- set.yaml --\n"+text, Limits{}).secretInputs()
		for _, value := range []string{"first", "second", "third"} {
			known := slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, value) })
			if known != strings.Contains(hidden, value) {
				t.Errorf("%s: %s is known: %v, of %q", template, value, known, got)
			}
		}
	}
}
