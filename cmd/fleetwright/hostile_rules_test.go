//go:build hostile && unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// defined is a definition of a kind with a schema, and an object of it.
func defined(kind, schema string) string {
	lower := strings.ToLower(kind)
	return fmt.Sprintf("---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %[2]ss.example.org}\n"+
		"spec:\n  group: example.org\n  scope: Namespaced\n  names: {kind: %[1]s, plural: %[2]ss}\n"+
		"  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: %[3]s}}]\n"+
		"---\napiVersion: example.org/v1\nkind: %[1]s\nmetadata: {name: a, namespace: default}\n", kind, lower, schema)
}

// nestedRules is a schema of values in each other, each with a rule, and beside
// it some more fields.
func nestedRules(columns, levels, more int) string {
	column := strings.Repeat("{type: object, x-kubernetes-validations: [{rule: 'true'}], properties: {a: {type: string}, n: ", levels) +
		"{type: string}" + strings.Repeat("}}", levels)
	return "{type: object, properties: {" + repeat(columns, func(i int) string { return fmt.Sprintf("c%d: %s, ", i, column) }) +
		"w: {type: object, x-kubernetes-validations: [{rule: 'true'}], properties: {" +
		repeat(more, func(i int) string { return fmt.Sprintf("f%d: {type: object, properties: {a: {type: string}}}, ", i) }) + "}}}}"
}

// ruleBombs are definitions whose rules take long to compile.
func ruleBombs() []hostileCase {
	top := func(rule string) string {
		return "{type: object, x-kubernetes-validations: [{rule: \"" + rule + "\"}]}"
	}
	return []hostileCase{
		{name: "private keys everywhere", want: []string{"was not checked: the files that mention keys exceed 12 MB [limit-exceeded]"}, make: func(t *testing.T, repo, _ string) {
			text := strings.Repeat("-----BEGIN PRIVATE"+" KEY-----\n"+strings.Repeat("a\n", 200), 2000)
			for i := range 100 {
				putFile(t, filepath.Join(repo, fmt.Sprintf("keys/%d.txt", i)), []byte(text))
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: c\n")})(t, repo, "")
		}},
		{name: "many findings", want: []string{"more findings of flux-dependson-missing are not shown"}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			on := "  dependsOn: [" + repeat(40, func(i int) string { return fmt.Sprintf("{name: x%d}, ", i) }) + "]\n"
			for i := range 500 {
				b.WriteString(strings.Replace(fluxKs(fmt.Sprint("k", i), on), fmt.Sprint("./k", i), fmt.Sprint("./app/", i), 1))
				files(map[string]string{fmt.Sprintf("app/%d/a.yaml", i): configMap(fmt.Sprint("a", i), "  b: c\n")})(t, repo, "")
			}
			files(map[string]string{"clusters/one/ks.yaml": b.String()})(t, repo, "")
		}},
		{name: "secrets in long values", make: func(t *testing.T, repo, _ string) {
			var b, g strings.Builder
			g.WriteString("secretGenerator:\n")
			for i := range 2000 {
				fmt.Fprintf(&b, "  password%d: %s\n", i, strings.Repeat("${A} example ghp_ ", 200))
				fmt.Fprintf(&g, "  - {name: s%d, files: [large.txt], envs: [large.txt], literals: ['a=%s']}\n", i, strings.Repeat("xY1 ", 200))
			}
			files(map[string]string{
				"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", b.String()),
				"other/kustomization.yaml": g.String(), "other/large.txt": strings.Repeat("password: ${A} example\n", 40_000),
			})(t, repo, "")
		}},
		app("rules at nodes in each other", map[string]string{"a.yaml": defined("Foo", nestedRules(20, 40, 0))}),
		app("rules of a large schema", map[string]string{"a.yaml": defined("Foo", nestedRules(1, 40, 12_000))}),
		app("rules of many definitions", map[string]string{
			"a.yaml": repeat(60, func(i int) string { return defined(fmt.Sprint("Foo", i), nestedRules(2, 40, 20)) })}),
		app("rules whose types double", map[string]string{
			"a.yaml": defined("Foo", top("size([1]"+strings.Repeat(".map(x, {x: x})", 30)+") > 0"))}, "not checked: the schema of example.org/v1 Foo takes more than"),
		app("rules of many operands", map[string]string{
			"a.yaml": defined("Foo", top("self.kind == 'a'"+strings.Repeat(" || self.kind == 'a'", 4_000)))}),
		app("an expression of an authentication", map[string]string{"a.yaml": "apiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterAuthentication\nmetadata: {name: people, namespace: kcm-system}\n" +
			"spec:\n  authenticationConfiguration:\n    jwt:\n    - issuer: {url: 'https://id.example.com', audiences: [kubernetes]}\n      claimMappings:\n        username: {expression: '" +
			strings.Repeat("[1].map(x, ", 200) + "x" + strings.Repeat(")", 200) + "'}\n"}),
	}
}
