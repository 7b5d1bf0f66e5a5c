//go:build hostile && unix

package main

import (
	"fmt"
	"strings"
)

// listOf is the schema of a list named l.
func listOf(items string) string {
	return definition("{type: object, properties: {l: {type: array, items: {" + items + "}}}}")
}

// schemaBombs are definitions of which judging an object takes long.
func schemaBombs() []hostileCase {
	numbers := func(n int, format string) string {
		return repeat(n, func(i int) string { return fmt.Sprintf(format, i) })
	}
	const unjudged = "app/a.yaml:2:1: error: not checked: the document of Thing"
	return []hostileCase{
		app("many alternatives", map[string]string{
			"crd.yaml": listOf("type: object, x-kubernetes-preserve-unknown-fields: true, oneOf: [" + numbers(500, "{required: [a%d]}, ") + "]"),
			"a.yaml":   thing("l: [" + numbers(20_000, "{a%d: 1}, ") + "]"),
		}, unjudged),
		app("many allowed values", map[string]string{
			"crd.yaml": listOf("type: string, enum: [" + numbers(5000, "a%d, ") + "]"),
			"a.yaml":   thing("l: [" + numbers(20_000, "b%d, ") + "]"),
		}, unbuilt),
		app("a pattern that repeats", map[string]string{
			"crd.yaml": listOf("type: string, pattern: '^(([a-z]{1,100}){1,9}[0-9]*)*$'"),
			"a.yaml":   thing("l: [" + strings.Repeat(strings.Repeat("a", 2000)+", ", 500) + "]"),
		}),
		app("patterns in many objects", map[string]string{
			"crd.yaml": definition("{type: object, properties: {s: {type: string, pattern: '^(([a-z]{1,100}){1,9}[0-9]*)*$'}}}"),
			"a.yaml": repeat(600, func(i int) string {
				return strings.Replace(thing("s: "+strings.Repeat("a", 2000)), "name: a", fmt.Sprint("name: a", i), 1)
			}),
		}),
		app("many defaults", map[string]string{
			"crd.yaml": definition("{type: object, x-kubernetes-validations: [{rule: 'true'}], properties: {l: {type: array, maxItems: 5000, items: {type: object, properties: {" + numbers(500, "f%d: {type: string, default: x}, ") + "}}}}}"),
			"a.yaml":   thing("l: [" + strings.Repeat("{}, ", 5000) + "]"),
		}),
		app("misspelt fields", map[string]string{
			"crd.yaml": definition("{type: object, properties: {" + numbers(3000, "some%dfield: {type: string}, ") + "}}"),
			"a.yaml":   thing(numbers(4000, "same%dfield: x\n")),
		}, "unknown field"),
		app("a list of keys", map[string]string{
			"crd.yaml": definition("{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}, " +
				"s: {type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: atomic, x-kubernetes-preserve-unknown-fields: true}}}}"),
			"a.yaml": thing("l: [" + numbers(20_000, "{k: a%d}, ") + "]\ns: [" + numbers(10_000, "{k: a%d}, ") + "]"),
		}),
		app("rules in every field", map[string]string{
			"crd.yaml": definition("{type: object, properties: {" + numbers(900, "f%d: {type: string, x-kubernetes-validations: [{rule: \"self.split(',').all(x, x.size() > 3 && x.matches('(a|b)*'))\"}]}, ") + "}}"),
			"a.yaml":   thing(numbers(900, "f%d: aaa\n")),
		}),
		app("a long rule", map[string]string{
			"crd.yaml": definition("{type: object, x-kubernetes-validations: [{rule: '" + strings.TrimSuffix(strings.Repeat("self.a == 1 || ", 20_000), " || ") + "'}, {rule: '" + strings.Repeat("(", 5000) + "self.a == 1" + strings.Repeat(")", 5000) + "'}], properties: {a: {type: integer}}}"),
			"a.yaml":   thing("a: 2"),
		}, "a rule of Thing cannot be compiled"),
		app("a deep definition", map[string]string{
			"crd.yaml": definition("{type: object, properties: {a: " + strings.Repeat("{type: object, default: {}, properties: {a: ", 60) + "{type: string}" + strings.Repeat("}}", 60) + "}}"),
			"a.yaml":   thing("a: " + strings.Repeat("{a: ", 60) + "b" + strings.Repeat("}", 60)),
		}),
		app("many definitions", map[string]string{"crds.yaml": repeat(500, func(i int) string {
			return strings.NewReplacer("things", fmt.Sprint("things", i), "Thing", fmt.Sprint("Thing", i)).Replace(definition("{type: object, properties: {" + numbers(30, "f%d: {type: string, pattern: '^[a-z]+$'}, ") + "}}"))
		})}),
	}
}
