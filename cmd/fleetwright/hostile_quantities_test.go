//go:build hostile && unix

package main

import (
	"fmt"
	"strings"
)

// quantityBombs are numbers with more digits than fit anywhere, once they are written out.
func quantityBombs() []hostileCase {
	const huge = `"1e-999999999"`
	runs := []string{"validate", "build --cluster one"}
	of := func(c hostileCase) hostileCase {
		c.runs = runs
		return c
	}
	chart := func(schema, values string) map[string]string {
		return map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", "") + hostileRelease("a", "charts/a", "  values: "+values+"\n"), "app/a.yaml": configMap("a", "  b: c\n"),
			"charts/a/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "charts/a/values.schema.json": schema,
		}
	}
	return []hostileCase{
		of(app("exponents of quantities", map[string]string{
			"deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n" +
				"    spec:\n      containers: [{name: c, image: i, resources: {requests: {cpu: " + huge + "}, limits: {memory: \"-1E-999999999\"}}}]\n      volumes: [{name: v, emptyDir: {sizeLimit: 1e999999999}}]\n",
			"limits.yaml": "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: b}\nspec: {limits: [{type: Container, max: {cpu: " + huge + "}, min: {cpu: \"0e-999999999\"}}]}\n",
			"quota.yaml":  "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a, namespace: b}\nspec: {hard: {cpu: " + huge + ", memory: \"" + strings.Repeat("9", 1_000_000) + "Gi\"}}\n",
			"claim.yaml":  "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a, namespace: b}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: " + huge + "}}}\n",
		})),
		of(app("quantities in rules", map[string]string{
			"crd.yaml": definition("{type: object, properties: {q: {type: string}}, x-kubernetes-validations: [{rule: \"quantity(self.q).isGreaterThan(quantity('1'))\"}]}"),
			"a.yaml":   thing("q: " + huge),
		})),
		of(app("quantities that rules compose", map[string]string{
			"crd.yaml": definition("{type: object, properties: {q: {type: string}, p: {type: string}}, x-kubernetes-validations: [{rule: \"isQuantity(self.q + self.p)\"}, {rule: \"quantity(self.q.replace('x', 'e')).isInteger()\"}]}"),
			"a.yaml":   thing("q: \"1x-9999\"\np: \"99999\""),
		})),
		{name: "numbers in a chart's schema", want: []string{"error: the check of the values of HelmRelease flux-system/a was not checked: the schema of the chart a: a number with the exponent"}, make: files(chart(
			`{"properties": {`+strings.TrimSuffix(repeat(200, func(i int) string { return fmt.Sprintf(`"a%d": {"maximum": 1e1000000, "multipleOf": 1e-999999}, `, i) }), ", ")+`}}`,
			"{"+strings.TrimSuffix(repeat(200, func(i int) string { return fmt.Sprintf("a%d: 1.5, ", i) }), ", ")+"}"))},
	}
}

// patternBombs are regular expressions whose programs are large.
func patternBombs() []hostileCase {
	nested := strings.Repeat("((a{1,9}b?){90})", 600)
	rules := func(field string) string {
		return "creation_rules:\n" + repeat(200, func(i int) string {
			return fmt.Sprintf("  - path_regex: secrets/%d\n    %s: '%s'\n    age: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq\n", i, field, strings.Repeat("(a{30}b?)", 15))
		})
	}
	sops := func(config string) map[string]string {
		all := map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), ".sops.yaml": config, "app/a.yaml": configMap("a", "  b: c\n")}
		for i := range 50 {
			all[fmt.Sprintf("app/%s%d.sops.yaml", strings.Repeat("a", 200), i)] = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\nstringData: {aaaa: b}\n"
		}
		return all
	}
	return []hostileCase{
		{name: "repetitions in path_regex", want: []string{".sops.yaml:2:", ".sops.yaml was not checked: the path_regex was not evaluated"}, make: files(sops("creation_rules:\n  - path_regex: '" + nested + "'\n    age: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq\n"))},
		{name: "many rules of SOPS", want: []string{"the regular expressions of the file exceed 20000 instructions [limit-exceeded]"}, make: files(sops(rules("encrypted_regex")))},
		{name: "repetitions in encrypted_regex", want: []string{".sops.yaml was not checked: cannot determine which values are encrypted"}, make: files(sops("creation_rules:\n  - encrypted_regex: '" + nested + "'\n    age: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq\n"))},
		app("repetitions in a definition", map[string]string{
			"crd.yaml": definition("{type: object, properties: {" + repeat(30, func(i int) string { return fmt.Sprintf("s%d: {type: string, pattern: '%s'}, ", i, nested) }) + "}}"),
			"a.yaml":   thing("s0: aaa\ns1: aaa"),
		}, "error: Thing flux-system/a was not checked: the CustomResourceDefinition in app/crd.yaml:2 cannot be used: a regular expression is not evaluated: it expands to"),
		app("many patterns in a definition", map[string]string{
			"crd.yaml": definition("{type: object, properties: {" + repeat(300, func(i int) string {
				return fmt.Sprintf("s%d: {type: string, pattern: '^(a{1,%d}b?){1,9}$'}, ", i, 50+i%50)
			}) + "}}"),
			"a.yaml": thing("s0: aaa\ns1: aaa"),
		}, "its patterns together compile to more than 200000 instructions [limit-exceeded]"),
		app("a large pattern and a long text", map[string]string{
			"crd.yaml": definition("{type: object, properties: {s: {type: string, pattern: '^(a?){900}(b?){900}(c?){900}$'}}}"),
			"a.yaml":   thing("s: " + strings.Repeat("a", 100_000)),
		}, "error: Thing flux-system/a was not checked: the schema of Thing: its regular expressions"),
		app("repetitions in a rule", map[string]string{
			"crd.yaml": definition("{type: object, properties: {p: {type: string}}, x-kubernetes-validations: [{rule: \"'aaa'.matches(self.p)\"}, {rule: \"self.p.matches('" + strings.Repeat("(a{900})", 90) + "')\"}]}"),
			"a.yaml":   thing("p: '" + nested + "'"),
		}, "error: Thing flux-system/a was not checked: the rules of Thing: "),
		{name: "repetitions in targets", want: []string{"the selector of a patch or replacement was not evaluated"}, make: files(map[string]string{
			"clusters/one/ks.yaml":   fluxKs("app", "") + fluxKs("own", "  patches:\n    - target: {kind: ConfigMap, name: '"+nested+"'}\n      patch: |\n        - {op: remove, path: /data}\n") + fluxKs("replaced", ""),
			"app/kustomization.yaml": "resources: [a.yaml]\npatches:\n  - target: {name: '" + nested + "'}\n    patch: |\n      - {op: remove, path: /data}\n", "app/a.yaml": configMap("a", "  b: c\n"),
			"own/a.yaml":                  configMap("a", "  b: c\n"),
			"replaced/kustomization.yaml": "resources: [a.yaml]\nreplacements:\n  - source: {kind: ConfigMap, name: a}\n    targets:\n      - select: {name: '" + nested + "'}\n        fieldPaths: [data.b]\n",
			"replaced/a.yaml":             configMap("a", "  b: c\n"),
		})},
	}
}

// indexBombs are paths whose indexes create long lists.
func indexBombs() []hostileCase {
	references := repeat(5000, func(i int) string {
		return fmt.Sprintf("    - {kind: ConfigMap, name: v, valuesKey: k, targetPath: 'a[%d][65535]'}\n", i)
	})
	small := repeat(2000, func(i int) string {
		return fmt.Sprintf("    - {kind: ConfigMap, name: v, valuesKey: k, targetPath: 'a[%d][1000]'}\n", i%1000)
	})
	chart := map[string]string{
		"charts/a/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "charts/a/templates/a.yaml": configMap("a", "  b: c\n"), "app/a.yaml": configMap("a", "  b: c\n"),
	}
	with := func(more map[string]string) map[string]string {
		all := map[string]string{}
		for _, part := range []map[string]string{chart, more} {
			for name, content := range part {
				all[name] = content
			}
		}
		return all
	}
	const known = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: flux-system}\ndata: {k: x}\n"
	helmfile := func(set string) string {
		return "repositories: []\nreleases:\n  - name: a\n    namespace: flux-system\n    chart: ../charts/a\n    version: 1.0.0\n    set:\n" + set
	}
	return []hostileCase{
		{name: "indexes of targetPaths", want: []string{"error: HelmRelease flux-system/a was not checked: ", "create more than 100000 elements"}, make: files(with(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", "") + hostileRelease("a", "./charts/a", "  valuesFrom:\n"+references) + known,
		}))},
		{name: "indexes of targetPaths in a comparison", want: []string{`the targetPath "a[0][65535]" was not evaluated`}, runs: []string{"bootstrap verify"}, make: files(with(map[string]string{
			"clusters/one/ks.yaml":    fluxKs("app", "") + hostileRelease("a", "./charts/a", "  valuesFrom:\n"+references) + known,
			"bootstrap/helmfile.yaml": helmfile("      - {name: a, value: b}\n"),
		})), status: 2},
		{name: "small indexes of targetPaths", runs: []string{"validate", "bootstrap verify"}, make: files(with(map[string]string{
			"clusters/one/ks.yaml":    fluxKs("app", "") + hostileRelease("a", "./charts/a", "  valuesFrom:\n"+small) + known,
			"bootstrap/helmfile.yaml": helmfile("      - {name: a, value: b}\n"),
		})), status: 2},
		{name: "indexes in set", want: []string{"error: the bootstrap of bootstrap/helmfile.yaml was not checked: ", "create more than 100000 elements"}, runs: []string{"bootstrap verify"}, make: files(with(map[string]string{
			"clusters/one/ks.yaml":    fluxKs("app", "") + hostileRelease("a", "./charts/a", ""),
			"bootstrap/helmfile.yaml": helmfile(repeat(5000, func(i int) string { return fmt.Sprintf("      - {name: 'a[%d][65535]', value: b}\n", i) })),
		})), status: 2},
	}
}
