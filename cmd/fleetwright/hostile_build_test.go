//go:build hostile && unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// configMaps are some objects.
func configMaps(n int) string {
	return repeat(n, func(i int) string { return configMap(fmt.Sprint("a", i), "  b: c\n") })
}

// app makes a case of a folder that a cluster builds.
func app(name string, contents map[string]string, want ...string) hostileCase {
	all := map[string]string{"clusters/one/ks.yaml": fluxKs("app", "")}
	for file, content := range contents {
		all[filepath.Join("app", file)] = content
	}
	return hostileCase{name: name, want: want, make: func(t *testing.T, repo, outside string) { files(all)(t, repo, outside) }}
}

// unbuilt is what is said of a build that takes too much.
const unbuilt = "[limit-exceeded]"

// growthBombs are kustomizations whose objects are much larger than their files.
func growthBombs() []hostileCase {
	long := strings.Repeat("x", 1_000_000)
	pod := func(name, args string) string {
		return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: flux-system}\nspec:\n  containers: [{name: c, image: i, args: [\"" + args + "\"]}]\n"
	}
	return []hostileCase{
		app("aliases of a long text", map[string]string{"a.yaml": configMap("a", "  b: &x "+long+"\n  c: ["+strings.Repeat("*x, ", 5000)+"]\n")}, "was not checked: the document's aliases expand"),
		app("aliases of a long text in many files", func() map[string]string {
			all := map[string]string{}
			for i := range 100 {
				all[fmt.Sprintf("a%d.yaml", i)] = configMap(fmt.Sprint("a", i), "  b: &x "+long[:100_000]+"\n"+repeat(90, func(i int) string { return fmt.Sprintf("  b%d: *x\n", i) }))
			}
			return all
		}(), "the aliases up to here expand by more than"),
		app("aliases of a long patch", map[string]string{
			"a.yaml": configMap("a", "  b: c\n"), "kustomization.yaml": "resources: [a.yaml]\npatches:\n  - patch: &p '[{\"op\": \"add\", \"path\": \"/data/x\", \"value\": \"" + long + "\"}]'\n    target: &t {kind: ConfigMap}\n" +
				strings.Repeat("  - {patch: *p, target: *t}\n", 5000),
		}, "was not checked: the document's aliases expand"),
		app("a long var in a text", map[string]string{
			"a.yaml":             configMap("a", "  b: "+long+"\n") + pod("p", strings.Repeat("$(V)", 10_000)),
			"kustomization.yaml": "resources: [a.yaml]\nvars:\n  - name: V\n    objref: {apiVersion: v1, kind: ConfigMap, name: a}\n    fieldref: {fieldpath: data.b}\n",
		}, "its vars may insert texts of more than 256 MB"),
		app("vars of vars", map[string]string{
			"a.yaml": repeat(30, func(i int) string { return pod(fmt.Sprint("p", i), fmt.Sprintf("$(V%d)$(V%d)", i+1, i+1)) }) + pod("p30", long[:1000]),
			"kustomization.yaml": "resources: [a.yaml]\nvars:\n" + repeat(31, func(i int) string {
				return fmt.Sprintf("  - name: V%d\n    objref: {apiVersion: v1, kind: Pod, name: p%d}\n    fieldref: {fieldpath: 'spec.containers[0].args[0]'}\n", i, i)
			}),
		}),
		app("a long annotation at many paths", map[string]string{
			"a.yaml": configMaps(10), "c.yaml": "commonAnnotations:\n" + repeat(5000, func(i int) string { return fmt.Sprintf("- {path: data/p%d, create: true}\n", i) }),
			"kustomization.yaml": "resources: [a.yaml]\nconfigurations: [c.yaml]\ncommonAnnotations: {a: " + long[:100_000] + "}\n",
		}, unbuilt),
		app("a long label at many paths", map[string]string{
			"a.yaml":             configMaps(10),
			"kustomization.yaml": "resources: [a.yaml]\nlabels:\n  - pairs: {a: " + long[:100_000] + "}\n    fields:\n" + repeat(5000, func(i int) string { return fmt.Sprintf("      - {path: data/p%d, create: true}\n", i) }),
		}, unbuilt),
		app("generators with long annotations", map[string]string{
			"kustomization.yaml": "generatorOptions: {annotations: {a: " + long + "}, labels: {b: " + long + "}}\nconfigMapGenerator:\n" + repeat(3000, func(i int) string { return fmt.Sprintf("  - {name: a%d, literals: [b=c]}\n", i) }),
		}, unbuilt),
		app("generators of a file many times", map[string]string{
			"large.txt":          strings.Repeat(long, 5),
			"kustomization.yaml": "secretGenerator:\n" + repeat(2000, func(i int) string { return fmt.Sprintf("  - {name: a%d, files: [%s]}\n", i, "k=large.txt") }),
		}, unbuilt),
		app("one generator of a file many times", map[string]string{
			"large.txt":          strings.Repeat(long, 5),
			"kustomization.yaml": "secretGenerator:\n  - name: a\n    files:\n" + repeat(2000, func(i int) string { return fmt.Sprintf("      - k%d=large.txt\n", i) }),
		}, unbuilt),
		app("a generator plugin of a file many times", map[string]string{
			"large.txt":          strings.Repeat(long, 5),
			"kustomization.yaml": "generators: [g.yaml]\n",
			"g.yaml": repeat(500, func(i int) string {
				return fmt.Sprintf("---\napiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: g%d}\nname: g%d\nfiles: [large.txt]\n", i, i)
			}),
		}, unbuilt),
		app("replacements in a file", map[string]string{
			"a.yaml":             configMaps(6000) + configMap("source", "  big: "+long+"\n"),
			"r.yaml":             "- source: {kind: ConfigMap, name: source, fieldPath: data.big}\n  targets:\n    - select: {kind: ConfigMap}\n      reject: [{name: source}]\n      fieldPaths: [data.b]\n",
			"kustomization.yaml": "resources: [a.yaml]\nreplacements: [{path: r.yaml}]\n",
		}, unbuilt),
		app("replacements by a plugin", map[string]string{
			"a.yaml":             configMaps(6000) + configMap("source", "  big: "+long+"\n"),
			"r.yaml":             "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: r}\nreplacements:\n- source: {kind: ConfigMap, name: source, fieldPath: data.big}\n  targets:\n    - select: {kind: ConfigMap}\n      reject: [{name: source}]\n      fieldPaths: [data.b]\n",
			"kustomization.yaml": "resources: [a.yaml]\ntransformers: [r.yaml]\n",
		}, unbuilt),
		app("replacements of a generated text", map[string]string{
			"a.yaml": configMaps(6000), "large.txt": long,
			"kustomization.yaml": "resources: [a.yaml]\nconfigMapGenerator: [{name: source, files: [large.txt]}]\nreplacements:\n- source: {kind: ConfigMap, name: source, fieldPath: 'data.[large.txt]'}\n  targets:\n    - select: {kind: ConfigMap}\n      reject: [{name: source}]\n      fieldPaths: [data.b]\n",
		}, unbuilt),
		app("replacements of a patched text", map[string]string{
			"a.yaml": configMaps(6000),
			"kustomization.yaml": "resources: [a.yaml]\npatches:\n- target: {name: a0}\n  patch: '[{\"op\": \"add\", \"path\": \"/data/big\", \"value\": \"" + long + "\"}]'\nreplacements:\n" +
				"- source: {kind: ConfigMap, name: a0, fieldPath: data.big}\n  targets:\n    - select: {kind: ConfigMap}\n      fieldPaths: [data.b]\n",
		}, unbuilt),
		app("replacements in a chain", map[string]string{
			"a.yaml": configMaps(40),
			"kustomization.yaml": "resources: [a.yaml]\nreplacements:\n" + repeat(30, func(i int) string {
				return fmt.Sprintf("- source: {kind: ConfigMap, name: a%d, fieldPath: data}\n  targets:\n    - select: {kind: ConfigMap, name: a%d}\n      fieldPaths: [data.x, data.y]\n      options: {create: true}\n", i, i+1)
			}),
		}),
		app("replacements of everything in a text", map[string]string{
			"a.yaml":             configMaps(2) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: list, namespace: flux-system}\nx: [" + strings.Repeat("{y: z},", 50_000) + "]\n" + configMap("source", "  big: "+long+"\n"),
			"kustomization.yaml": "resources: [a.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: source, fieldPath: data.big}\n  targets:\n    - select: {name: list}\n      fieldPaths: ['x.*.y']\n",
		}, unbuilt),
	}
}

// workBombs are kustomizations that take long, and come to little.
func workBombs() []hostileCase {
	containers := func(n int) string {
		return repeat(n, func(i int) string { return fmt.Sprintf("        - {name: c%d, image: i}\n", i) })
	}
	deployment := func(n int) string {
		return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: flux-system}\nspec:\n  template:\n    spec:\n      containers:\n" + containers(n)
	}
	return []hostileCase{
		app("transformations that are noted", map[string]string{
			"a.yaml": configMaps(20), "kustomization.yaml": "resources: [a.yaml]\nbuildMetadata: [transformerAnnotations, originAnnotations]\npatches:\n" +
				repeat(400, func(i int) string {
					return fmt.Sprintf("  - target: {kind: ConfigMap}\n    patch: '[{\"op\": \"add\", \"path\": \"/data/p%d\", \"value\": \"x\"}]'\n", i)
				}),
		}),
		app("lists that are merged", map[string]string{"a.yaml": deployment(5000), "p.yaml": deployment(5000), "kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n"}),
		app("lists that are merged in the middle of a build", map[string]string{
			"a.yaml": deployment(300), "p.yaml": deployment(300), "kustomization.yaml": "resources: [a.yaml]\npatches:\n" + strings.Repeat("  - {path: p.yaml}\n", 100),
		}),
		app("insertions into a list", map[string]string{
			"a.yaml": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [" + strings.Repeat("1,", 200_000) + "]\n",
			"p.yaml": repeat(20_000, func(int) string { return "- {op: add, path: /list/0, value: 1}\n" }), "kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: a}}]\n",
		}),
		app("comparisons of a list", map[string]string{
			"a.yaml":             "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [" + strings.Repeat("1,", 20_000) + "]\n",
			"p.yaml":             repeat(20, func(int) string { return "- {op: test, path: /list, value: [" + strings.Repeat("1,", 20_000) + "]}\n" }),
			"kustomization.yaml": "resources: [a.yaml]\npatches:\n" + strings.Repeat("  - {path: p.yaml, target: {name: a}}\n", 200),
		}),
		app("fields of a configuration", map[string]string{
			"a.yaml": configMaps(1000), "c.yaml": "namePrefix:\n" + repeat(20_000, func(i int) string { return fmt.Sprintf("- {path: spec/x%d/y/z}\n", i) }),
			"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\nconfigurations: [c.yaml]\n",
		}),
		app("references of a configuration", map[string]string{
			"a.yaml": configMaps(1000), "c.yaml": "nameReference:\n- kind: ConfigMap\n  version: v1\n  fieldSpecs:\n" + repeat(20_000, func(i int) string { return fmt.Sprintf("  - {path: spec/x%d/y/z}\n", i) }),
			"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\nconfigurations: [c.yaml]\n",
		}),
		app("images of many containers", map[string]string{
			"a.yaml": deployment(5000), "kustomization.yaml": "resources: [a.yaml]\nimages:\n" + repeat(2000, func(i int) string { return fmt.Sprintf("  - {name: i%d, newTag: x}\n", i) }),
		}),
		app("patterns of patches", map[string]string{
			"a.yaml": repeat(200, func(i int) string { return configMap(strings.Repeat("a", 5000)+fmt.Sprint(i), "  b: c\n") }),
			"kustomization.yaml": "resources: [a.yaml]\npatches:\n" + repeat(200, func(i int) string {
				return fmt.Sprintf("  - target: {name: '(a*)*(a|aa)*(.*a){%d}b'}\n    patch: '[{\"op\": \"add\", \"path\": \"/data/x\", \"value\": \"x\"}]'\n", 300+i)
			}),
		}),
		app("references among many objects", map[string]string{
			"a.yaml": repeat(1500, func(i int) string {
				return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, namespace: x}\nspec: {containers: [{name: c, image: i, envFrom: [{configMapRef: {name: c%d}}]}]}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: x}\n", i, i, i)
			}), "kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n",
		}),
		app("objects of one kind", map[string]string{"a.yaml": configMaps(3000), "kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n"}),
		app("folders one in the other", func() map[string]string {
			all := map[string]string{"kustomization.yaml": "resources: [d]\nnamePrefix: x-\n"}
			dir := "d"
			for range 60 {
				all[dir+"/kustomization.yaml"] = "resources: [d, a.yaml]\nnamePrefix: y-\n"
				all[dir+"/a.yaml"] = strings.ReplaceAll(configMaps(10), "name: a", "name: "+strings.ReplaceAll(dir, "/", ""))
				dir += "/d"
			}
			all[dir+"/kustomization.yaml"] = "resources: []\nconfigMapGenerator: [{name: x}]\n"
			return all
		}()),
		app("many components", map[string]string{
			"kustomization.yaml": "resources: [a.yaml]\ncomponents:\n" + strings.Repeat("  - c\n", 300), "a.yaml": configMaps(100),
			"c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{pairs: {a: b}}]\npatches: [{target: {kind: ConfigMap}, patch: '[{\"op\": \"add\", \"path\": \"/data/x\", \"value\": \"x\"}]'}]\n",
		}),
		app("an openapi schema for each", func() map[string]string {
			all := map[string]string{"schema.json": `{"definitions": {` + repeat(3000, func(i int) string {
				return fmt.Sprintf(`"v1.T%d": {"type": "object", "properties": {"spec": {"type": "object"}}, "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "T%d", "version": "v1"}]},`, i, i)
			}) + `"end": {}}}`, "kustomization.yaml": "resources:\n" + repeat(100, func(i int) string { return fmt.Sprintf("  - d%d\n", i) })}
			for i := range 100 {
				all[fmt.Sprintf("d%d/kustomization.yaml", i)] = "openapi: {path: ../schema.json}\nresources: [a.yaml]\n"
				all[fmt.Sprintf("d%d/a.yaml", i)] = configMap(fmt.Sprint("a", i), "  b: c\n")
			}
			return all
		}()),
	}
}
