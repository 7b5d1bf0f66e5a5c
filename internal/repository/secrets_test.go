package repository

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The inputs of a ResourceSet that creates Secrets are secrets, and so are those of providers beside it.
func TestInputSecrets(t *testing.T) {
	const set = "-- set.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: b}\nspec:\n" +
		"  inputs:\n    - {seed: first-Zk8sPq31xw7v, tenant: team}\n  resourcesTemplate: |\n    apiVersion: v1\n    kind: KIND\n    metadata: {name: << inputs.tenant >>}\n" +
		"-- provider.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: a, namespace: b}\nspec: {defaultValues: {seed: second-Zk8sPq31xw7v}}\n"
	for kind, want := range map[string]string{"Secret": "a <hidden> team <hidden>", "ConfigMap": "a first-Zk8sPq31xw7v team second-Zk8sPq31xw7v"} {
		lines := inMemory(t, strings.Replace(set, "KIND", kind, 1), Limits{}).Lines()
		if got := lines.Without("a first-Zk8sPq31xw7v team second-Zk8sPq31xw7v"); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestIsSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"{apiVersion: v1, kind: Secret, metadata: {name: a}}":           true,
		"{kind: secret, password: a}":                                   true,
		"{kind: Secret, name: a, password: b}":                          true,
		"{kind: Secret, name: {password: b}}":                           true,
		"{kind: Secret, name: a}":                                       false,
		"{kind: Secret, name: a, valuesKey: b, optional: true}":         false,
		"{apiVersion: sealed.example.com/v1, kind: Secret, spec: {}}":   false,
		"{apiVersion: v1, kind: ConfigMap, data: {kind: Secret}}":       false,
		"{apiVersion: v1, kind: Secret, name: a, stringData: {a: b}}":   true,
		"{kind: Secret, name: a, namespace: b, targetPath: c, key: []}": true,
	} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		if got := IsSecret(n.Content[0]); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
