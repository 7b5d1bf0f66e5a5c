//go:build hostile && unix

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// hostileCase is a repository that means harm.
type hostileCase struct {
	name   string
	make   func(t *testing.T, repo, outside string)
	runs   []string // command lines; validate if there is none
	want   []string // in the output of each
	status int      // that is allowed besides 0 and 1
	stops  bool     // it may end with status 3, too
	writes bool     // files in the repository
}

func (c hostileCase) commands() [][]string {
	if c.runs == nil {
		return [][]string{{"validate"}}
	}
	var all [][]string
	for _, line := range c.runs {
		all = append(all, strings.Fields(line))
	}
	return all
}

// files makes a case of some files' contents.
func files(contents map[string]string) func(*testing.T, string, string) {
	return func(t *testing.T, repo, _ string) {
		for name, content := range contents {
			putFile(t, filepath.Join(repo, name), []byte(content))
		}
	}
}

// big writes a file of a beginning and many repeated parts, without holding it in memory.
func big(t *testing.T, file, begin, part string, times int) {
	t.Helper()
	putFile(t, file, []byte(begin))
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte(part), min(times, 1000))
	for ; times > 0; times -= min(times, 1000) {
		if _, err := f.Write(chunk[:len(part)*min(times, 1000)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func hostileCases() []hostileCase {
	var all []hostileCase
	all = append(all, bombs()...)
	all = append(all, buildBombs()...)
	all = append(all, growthBombs()...)
	all = append(all, workBombs()...)
	all = append(all, schemaBombs()...)
	all = append(all, graphBombs()...)
	all = append(all, ruleBombs()...)
	all = append(all, bootstrapBombs()...)
	all = append(all, quantityBombs()...)
	all = append(all, patternBombs()...)
	all = append(all, indexBombs()...)
	all = append(all, sizeBombs()...)
	all = append(all, gitPipes()...)
	all = append(all, rootBombs()...)
	all = append(all, gitBombs()...)
	all = append(all, specBombs()...)
	all = append(all, streamBombs()...)
	all = append(all, hostileReferences()...)
	all = append(all, hostileCharts()...)
	return append(all, oddFiles()...)
}

// bombs are large or deep once they are read.
func bombs() []hostileCase {
	bomb := laughs(9)
	return []hostileCase{
		{name: "aliases in an object", want: []string{"app/a.yaml:2:1: error: app/a.yaml was not checked: the document's aliases expand to more than 1000000 values"}, make: files(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: "+bomb+"\n"),
		})},
		{name: "aliases in patches", want: []string{"app/kustomization.yaml: error: Kustomization flux-system/app was not checked"}, make: files(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: c\n"),
			"app/kustomization.yaml": "resources: [a.yaml]\npatches:\n  - patch: |\n      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: a}\n      data: " + bomb + "\n" +
				"patchesStrategicMerge:\n  - |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n    data: " + bomb + "\n" +
				"patchesJson6902:\n  - target: {version: v1, kind: ConfigMap, name: a}\n    patch: |\n      - {op: add, path: /data/b, value: " + bomb + "}\n",
		})},
		{name: "aliases in Flux's patches", want: []string{"clusters/one/ks.yaml:8:9: error: Kustomization flux-system/app was not checked"}, make: files(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", "  patches:\n    - patch: |\n        apiVersion: v1\n        kind: ConfigMap\n        metadata: {name: a, namespace: flux-system}\n        data: "+bomb+"\n"),
			"app/a.yaml":           configMap("a", "  b: c\n"),
		})},
		{name: "aliases in a FluxInstance's patches", make: files(map[string]string{
			"clusters/one/flux.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  distribution: {version: 2.x, registry: r}\n" +
				"  sync: {kind: GitRepository, url: https://example.com/x, ref: main, path: clusters/one}\n  kustomize:\n    patches:\n      - target: {kind: Kustomization}\n        patch: |\n" +
				"          apiVersion: v1\n          kind: Kustomization\n          metadata: {name: flux-system}\n          spec: " + bomb + "\n",
		})},
		{name: "aliases in plugins", want: []string{"error: app/g.yaml was not checked: the document's aliases", "Kustomization flux-system/inline was not checked: the document's aliases expand to more than 1000000 values"}, make: files(map[string]string{
			"clusters/one/ks.yaml":   fluxKs("app", "") + fluxKs("inline", ""),
			"app/kustomization.yaml": "generators: [g.yaml]\ntransformers: [g.yaml]\nvalidators: [g.yaml]\nconfigurations: [g.yaml]\ncrds: [g.yaml]\nopenapi: {path: g.yaml}\nreplacements: [{path: g.yaml}]\n",
			"app/g.yaml":             "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nliterals: " + bomb + "\n",
			"inline/kustomization.yaml": "generators:\n  - |\n    apiVersion: builtin\n    kind: ConfigMapGenerator\n    metadata: {name: g}\n    literals: " + bomb + "\n" +
				"transformers:\n  - |\n    apiVersion: builtin\n    kind: LabelTransformer\n    metadata: {name: g}\n    labels: " + bomb + "\n",
		})},
		{name: "aliases in files of other names", want: []string{"app/bomb.txt: error: Kustomization flux-system/app was not checked", "was not checked: the document's aliases expand"}, make: files(map[string]string{
			"clusters/one/ks.yaml":         fluxKs("app", "") + fluxKs("patch", "") + fluxKs("transform", "") + fluxKs("schema", ""),
			"app/kustomization.yaml":       "resources: [bomb.txt]\n",
			"app/bomb.txt":                 configMap("a", "  b: "+bomb+"\n"),
			"patch/kustomization.yaml":     "resources: [a.yaml]\npatches: [{path: bomb.txt}]\nreplacements: [{path: bomb.txt}]\nconfigurations: [bomb.txt]\ncrds: [bomb.txt]\n",
			"patch/a.yaml":                 configMap("a", "  b: c\n"),
			"patch/bomb.txt":               configMap("a", "  b: "+bomb+"\n"),
			"transform/kustomization.yaml": "generators: [bomb]\ntransformers: [bomb]\n",
			"transform/bomb":               "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nliterals: " + bomb + "\n",
			"schema/kustomization.yaml":    "openapi: {path: bomb}\n",
			"schema/bomb":                  bomb + "\n",
		})},
		{name: "aliases in a kustomization", make: files(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", ""), "app/kustomization.yaml": "resources: []\ncommonAnnotations: " + bomb + "\n",
		})},
		{name: "aliases that contain themselves", make: files(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: &x [*x]\n  c: &y {d: *y}\n  <<: &z {<<: *z}\n"),
		})},
		{name: "merged keys", make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			b.WriteString("  a0: &a0 {k: v}\n")
			for i := 1; i < 60; i++ {
				fmt.Fprintf(&b, "  a%d: &a%d {<<: [*a%d, *a%d, *a%d], k%d: v}\n", i, i, i-1, i-1, i-1, i)
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", b.String())})(t, repo, "")
		}},
		{name: "aliases in a variable", make: files(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", "  postBuild: {substitute: {BOMB: "+fmt.Sprintf("%q", bomb)+"}}\n"),
			"app/a.yaml":           strings.Repeat("---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {generateName: x, name: x}\nspec: ${BOMB}\n", 1),
		})},
		{name: "many aliases in variables", make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "  postBuild: {substitute: {BOMB: "+fmt.Sprintf("%q", laughs(5))+"}}\n")})(t, repo, "")
			var b strings.Builder
			for i := range 500 {
				fmt.Fprintf(&b, "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x%d}\nspec: ${BOMB}\n", i)
			}
			putFile(t, filepath.Join(repo, "app/a.yaml"), []byte(b.String()))
		}},
		{name: "aliases in Helm values", make: files(map[string]string{
			"clusters/one/hr.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: h, namespace: flux-system}\nspec:\n  interval: 1h\n  chart: {spec: {chart: c, sourceRef: {kind: HelmRepository, name: r}}}\n  values: " + bomb + "\n" + fluxKs("app", ""),
			"app/values.yaml":      "a: " + bomb + "\n",
		})},
		{name: "deep nesting", make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "") + fluxKs("patch", "  patches:\n    - patch: '"+strings.Repeat("[", 50_000)+"'\n"), "patch/a.yaml": configMap("a", "  b: c\n")})(t, repo, "")
			putFile(t, filepath.Join(repo, "app/flow.yaml"), []byte(configMap("a", "  b: "+strings.Repeat("[", 100_000)+"\n")))
			putFile(t, filepath.Join(repo, "app/closed.yaml"), []byte(configMap("a", "  b: "+strings.Repeat("{a: ", 9_000)+strings.Repeat("}", 9_000)+"\n")))
			putFile(t, filepath.Join(repo, "app/deep.json"), []byte(`{"apiVersion":"v1","kind":"ConfigMap","data":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)+"}"))
			var b strings.Builder
			for i := range 3000 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			putFile(t, filepath.Join(repo, "app/block.yaml"), []byte(b.String()))
			putFile(t, filepath.Join(repo, "app/dashes.yaml"), []byte("a:\n  "+strings.Repeat("- ", 100_000)+"\n"))
		}},
		{name: "huge files", want: []string{"generated/huge.txt: error: Kustomization flux-system/generated was not checked", "app/huge.yaml"}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "") + fluxKs("generated", ""), "generated/kustomization.yaml": "configMapGenerator:\n  - name: a\n    files: [huge.txt]\n"})(t, repo, "")
			big(t, filepath.Join(repo, "app/huge.yaml"), configMap("a", ""), "  k: vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\n", 2_000_000)
			big(t, filepath.Join(repo, "app/line.yaml"), configMap("a", "  b: "), strings.Repeat("x", 1000), 9_000)
			big(t, filepath.Join(repo, "generated/huge.txt"), "", strings.Repeat("x", 1000), 100_000)
		}},
		{name: "many values", want: []string{"app/a0.yaml"}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "")})(t, repo, "")
			for i := range 10 {
				big(t, filepath.Join(repo, fmt.Sprintf("app/a%d.yaml", i)), configMap(fmt.Sprint("a", i), "  b: ["), "1,", 1_900_000)
			}
		}},
		app("many keys", map[string]string{"a.yaml": configMap("a", repeat(300_000, func(i int) string { return fmt.Sprintf("  k%d: v\n", i) }))}, "app/a.yaml:2:1: error: app/a.yaml was not checked: the document has maps of too many keys"),
		app("many keys in many maps", map[string]string{"a.yaml": repeat(20, func(j int) string {
			return configMap(fmt.Sprint("a", j), repeat(4000, func(i int) string { return fmt.Sprintf("  k%d: v\n", i) }))
		})}, "app/a.yaml:1:1: error: app/a.yaml was not checked: the maps up to here have too many keys"),
		app("a long list", map[string]string{"a.yaml": thing("list: [" + strings.Repeat("1,", 900_000) + "]")}),
		app("deep and wide", map[string]string{"a.yaml": configMap("a", repeat(2000, func(i int) string {
			return fmt.Sprintf("  b%d: %s%s\n", i, strings.Repeat("{a: ", 180), strings.Repeat("}", 180))
		}))}, "app/a.yaml:2:1: error: app/a.yaml was not checked: the document is nested too deep for its size"),
		app("findings in a long line", map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {" + repeat(2000, func(i int) string { return fmt.Sprintf("k%d: 1, ", i) }) + "x: " + strings.Repeat("y", 5_000_000) + "}\n"}),
		{name: "many documents", want: []string{"app/a.yaml"}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "")})(t, repo, "")
			big(t, filepath.Join(repo, "app/a.yaml"), "", "---\na: b\n", 500_000)
			big(t, filepath.Join(repo, "app/b.yaml"), "", "---\n", 1_000_000)
			big(t, filepath.Join(repo, "app/c.yaml"), "", "# comment\n", 500_000)
			big(t, filepath.Join(repo, "app/d.yaml"), "", "%YAML 1.1\n", 100_000)
		}},
		{name: "long names", make: func(t *testing.T, repo, _ string) {
			long := strings.Repeat("x", 1_000_000)
			files(map[string]string{
				"clusters/one/ks.yaml": fluxKs("app", "  namePrefix: "+long+"\n  nameSuffix: "+long+"\n"),
				"app/a.yaml":           configMap(long, "  &"+long+" b: *"+long+"\n") + configMap("b", "  "+long+": "+long+"\n"),
				"app/b.yaml":           "!" + long + " {apiVersion: v1, kind: " + long + ", metadata: {name: x}}\n",
			})(t, repo, "")
		}},
	}
}

// buildBombs are large once they are built.
func buildBombs() []hostileCase {
	return []hostileCase{
		{name: "bases that double", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("b30", ""), "b0/kustomization.yaml": "resources: [a.yaml]\n", "b0/a.yaml": configMap("a", "  b: c\n")})(t, repo, "")
			for i := 1; i <= 30; i++ {
				for _, side := range []string{"l", "r"} {
					putFile(t, filepath.Join(repo, fmt.Sprintf("%s%d/kustomization.yaml", side, i)), fmt.Appendf(nil, "namePrefix: %s-\nresources: [../b%d]\n", side, i-1))
				}
				putFile(t, filepath.Join(repo, fmt.Sprintf("b%d/kustomization.yaml", i)), fmt.Appendf(nil, "resources: [../l%d, ../r%d]\n", i, i))
			}
		}},
		{name: "components that double", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "  components: [../c30]\n"), "app/a.yaml": configMap("a", "  b: c\n"),
				"c0/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -x\n"})(t, repo, "")
			for i := 1; i <= 30; i++ {
				putFile(t, filepath.Join(repo, fmt.Sprintf("c%d/kustomization.yaml", i)), fmt.Appendf(nil, "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncomponents: [../c%d, ../c%d]\n", i-1, i-1))
			}
		}},
		{name: "copies that double", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			b.WriteString("resources: [a.yaml]\npatches:\n  - target: {kind: ConfigMap}\n    patch: |\n")
			for i := range 40 {
				fmt.Fprintf(&b, "      - {op: copy, from: /data, path: /data/d%d}\n", i)
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/kustomization.yaml": b.String(), "app/a.yaml": configMap("a", "  b: "+strings.Repeat("x", 1000)+"\n")})(t, repo, "")
		}},
		{name: "copies that double in many patches", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			b.WriteString("resources: [a.yaml]\npatches:\n")
			for i := range 40 {
				fmt.Fprintf(&b, "  - target: {kind: ConfigMap}\n    patch: '[{\"op\": \"copy\", \"from\": \"/data\", \"path\": \"/data/d%d\"}]'\n", i)
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/kustomization.yaml": b.String(), "app/a.yaml": configMap("a", "  b: "+strings.Repeat("x", 1000)+"\n")})(t, repo, "")
		}},
		{name: "replacements that double", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			b.WriteString("resources: [a.yaml]\nreplacements:\n")
			for range 60 {
				b.WriteString("  - source: {kind: ConfigMap, name: a, fieldPath: data.b}\n    targets:\n      - select: {kind: ConfigMap, name: a}\n        fieldPaths: [data.b]\n        options: {delimiter: '!', index: -1}\n")
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/kustomization.yaml": b.String(), "app/a.yaml": configMap("a", "  b: "+strings.Repeat("x", 1000)+"\n")})(t, repo, "")
		}},
		{name: "replacements of everything", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 6000 {
				b.WriteString(configMap(fmt.Sprint("a", i), "  b: c\n"))
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": b.String() + configMap("source", "  big: "+strings.Repeat("x", 1_000_000)+"\n"),
				"app/kustomization.yaml": "resources: [a.yaml]\nreplacements:\n  - source: {kind: ConfigMap, name: source, fieldPath: data.big}\n    targets:\n      - select: {kind: ConfigMap}\n        reject: [{name: source}]\n        fieldPaths: [data.b]\n"})(t, repo, "")
		}},
		{name: "generators of one large file", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			b.WriteString("configMapGenerator:\n")
			for i := range 2000 {
				fmt.Fprintf(&b, "  - name: a%d\n    files: [large.txt]\n", i)
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/kustomization.yaml": b.String()})(t, repo, "")
			big(t, filepath.Join(repo, "app/large.txt"), "", strings.Repeat("x", 1000), 5_000)
		}},
		{name: "long variables used often", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "  postBuild: {substitute: {LONG: "+strings.Repeat("x", 1_000_000)+"}}\n"), "app/a.yaml": configMap("a", "  b: \""+strings.Repeat("${LONG}", 20_000)+"\"\n")})(t, repo, "")
		}},
		{name: "long variables used in many objects", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 2000 {
				b.WriteString(configMap(fmt.Sprint("a", i), "  b: ${LONG}\n"))
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "  postBuild: {substitute: {LONG: "+strings.Repeat("x", 1_000_000)+"}}\n"), "app/a.yaml": b.String()})(t, repo, "")
		}},
		{name: "variables that double", want: []string{"unresolved"}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 60 {
				b.WriteString(fluxKs(fmt.Sprint("k", i), fmt.Sprintf("  postBuild: {substituteFrom: [{kind: ConfigMap, name: v%d}]}\n", i)))
				putFile(t, filepath.Join(repo, fmt.Sprintf("k%d/a.yaml", i)), []byte(configMap(fmt.Sprint("v", i+1), "  V: \"${V}${V}\"\n")))
			}
			files(map[string]string{"clusters/one/ks.yaml": b.String() + configMap("v0", "  V: xxxxxxxx\n")})(t, repo, "")
		}},
		{name: "functions of variables that nest", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "  postBuild: {substitute: {A: "+strings.Repeat("a", 5000)+"}}\n"),
				"app/a.yaml": configMap("a", "  deep: \""+strings.Repeat("${X:-", 20_000)+strings.Repeat("}", 20_000)+"\"\n") +
					configMap("b", "  replace: \"${A//a/"+strings.Repeat("b", 100_000)+"}\"\n") +
					configMap("c", "  pattern: \"${A##"+strings.Repeat("*a", 3000)+"b}\"\n"),
			})(t, repo, "")
		}},
		{name: "patches of everything", want: []string{unbuilt}, make: func(t *testing.T, repo, _ string) {
			var b, p strings.Builder
			p.WriteString("resources: [a.yaml]\npatches:\n")
			for i := range 3000 {
				b.WriteString(configMap(fmt.Sprint("a", i), "  b: c\n"))
				fmt.Fprintf(&p, "  - target: {name: .*, labelSelector: 'a notin (b)'}\n    patch: '[{\"op\": \"add\", \"path\": \"/data/p%d\", \"value\": \"x\"}]'\n", i)
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": b.String(), "app/kustomization.yaml": p.String()})(t, repo, "")
		}},
		{name: "references of everything", make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 6000 {
				fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec:\n  containers: [{name: c, image: i, envFrom: [{configMapRef: {name: c%d}}]}]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i, i, i)
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": b.String(), "app/kustomization.yaml": "namePrefix: x-\nnameSuffix: -y\nnamespace: z\nresources: [a.yaml]\n"})(t, repo, "")
		}},
		{name: "a schema that refers to itself", make: files(map[string]string{
			"clusters/one/ks.yaml":   fluxKs("app", "") + fluxKs("other", ""),
			"app/kustomization.yaml": "resources: [a.yaml]\nopenapi: {path: schema.json}\npatches: [{patch: '{apiVersion: example.com/v1, kind: Loop, metadata: {name: a}, spec: {a: {a: {a: {a: b}}}}}'}]\n",
			"app/a.yaml":             "apiVersion: example.com/v1\nkind: Loop\nmetadata: {name: a}\nspec: {a: {a: {a: {a: c}}}}\n",
			"app/schema.json": `{"definitions": {"v1.Loop": {"$ref": "#/definitions/v1.Loop", "type": "object", "properties": {"spec": {"$ref": "#/definitions/v1.Loop"}, "a": {"$ref": "#/definitions/other"}},
				"x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Loop", "version": "v1"}]}, "other": {"$ref": "#/definitions/v1.Loop"}}}`,
			"other/a.yaml": configMap("a", "  b: c\n"),
		})},
		{name: "a definition with costly rules", make: func(t *testing.T, repo, _ string) {
			list := "[" + strings.TrimSuffix(strings.Repeat("1,", 3000), ",") + "]"
			files(map[string]string{
				"clusters/one/ks.yaml": fluxKs("app", ""),
				"app/crd.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n" +
					"  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}\n  versions:\n    - name: v1\n      served: true\n      storage: true\n      schema:\n        openAPIV3Schema:\n          type: object\n" +
					"          properties:\n            spec:\n              type: object\n              x-kubernetes-validations: [{rule: 'self.l.all(a, self.l.all(b, self.l.all(c, a + b + c > 0)))'}, {rule: \"self.s.matches('(a*)*(a*)*(a*)*b')\"}]\n" +
					"              properties:\n                s: {type: string, pattern: '^(([a-z])+.)+[A-Z]([a-z])+$'}\n                l: {type: array, items: {type: integer}, x-kubernetes-list-type: set}\n",
				"app/a.yaml": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {s: " + strings.Repeat("a", 100_000) + ", l: " + list + "}\n",
			})(t, repo, "")
		}},
	}
}

// graphBombs are large once they are followed.
func graphBombs() []hostileCase {
	return []hostileCase{
		{name: "10,000 Kustomizations in a file", make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 10_000 {
				b.WriteString(strings.Replace(fluxKs(fmt.Sprint("k", i), ""), fmt.Sprintf("./k%d", i), "./app", 1))
			}
			files(map[string]string{"clusters/one/ks.yaml": b.String(), "app/a.yaml": configMap("a", "  b: c\n")})(t, repo, "")
		}},
		{name: "many Kustomizations of many objects", want: []string{"the Kustomizations of all clusters apply more than"}, make: files(map[string]string{
			"clusters/one/ks.yaml": repeat(1500, func(i int) string {
				return strings.Replace(fluxKs(fmt.Sprint("k", i), ""), fmt.Sprintf("./k%d", i), "./app", 1)
			}),
			"app/a.yaml": configMaps(1500),
		})},
		{name: "many builds with a schema of their own", make: func(t *testing.T, repo, _ string) {
			for i := range 350 {
				files(map[string]string{fmt.Sprintf("k%d/kustomization.yaml", i): "openapi: {path: ../schema.json}\nresources: [a.yaml]\n", fmt.Sprintf("k%d/a.yaml", i): configMap("a", "  b: c\n")})(t, repo, "")
			}
			files(map[string]string{"clusters/one/ks.yaml": repeat(350, func(i int) string { return fluxKs(fmt.Sprint("k", i), "") }), "schema.json": `{"definitions": {"v1.T": {"type": "object"}}}`})(t, repo, "")
		}},
		{name: "a Kustomization that makes its next", want: []string{"is not followed"}, make: files(map[string]string{
			"clusters/one/ks.yaml": strings.Replace(fluxKs("app", "  postBuild: {substitute: {N: x}}\n"), "name: app\n", "name: k\n", 1),
			"app/ks.yaml":          strings.Replace(fluxKs("app", "  postBuild: {substitute: {N: \"${N}x\"}}\n"), "name: app\n", "name: k${N}\n", 1),
		})},
		{name: "a Kustomization that makes its next two", want: []string{"is not followed"}, make: files(map[string]string{
			"clusters/one/ks.yaml": strings.Replace(fluxKs("app", "  postBuild: {substitute: {N: x}}\n"), "name: app\n", "name: k\n", 1),
			"app/ks.yaml": strings.Replace(fluxKs("app", "  postBuild: {substitute: {N: \"${N}x\"}}\n"), "name: app\n", "name: k${N}x\n", 1) +
				strings.Replace(fluxKs("app", "  postBuild: {substitute: {N: \"${N}y\"}}\n"), "name: app\n", "name: k${N}y\n", 1),
		})},
		{name: "dependencies in a circle", make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 2000 {
				b.WriteString(strings.Replace(fluxKs(fmt.Sprint("k", i), fmt.Sprintf("  dependsOn: [{name: k%d}, {name: k%d}]\n", (i+1)%2000, (i*7)%2000)), fmt.Sprintf("./k%d", i), "./app", 1))
			}
			files(map[string]string{"clusters/one/ks.yaml": b.String(), "app/a.yaml": configMap("a", "  b: c\n")})(t, repo, "")
		}},
		{name: "variables in a circle", make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 1000 {
				b.WriteString(fluxKs(fmt.Sprint("k", i), fmt.Sprintf("  postBuild: {substituteFrom: [{kind: ConfigMap, name: v%d}]}\n", (i+1)%1000)))
				putFile(t, filepath.Join(repo, fmt.Sprintf("k%d/a.yaml", i)), []byte(configMap(fmt.Sprint("v", i), "  V: \"${V}\"\n")))
			}
			files(map[string]string{"clusters/one/ks.yaml": b.String()})(t, repo, "")
		}},
		{name: "a Kustomization of itself", make: files(map[string]string{
			"clusters/one/ks.yaml":            fluxKs("clusters/one", "") + strings.Replace(fluxKs("self", ""), "./self", "./clusters/one", 1) + strings.Replace(fluxKs("all", ""), "./all", "./", 1),
			"clusters/one/kustomization.yaml": "resources: [ks.yaml, ., ./, ../one, ../../clusters]\n",
			"clusters/kustomization.yaml":     "resources: [one]\n",
		})},
		{name: "many variables in many Kustomizations", want: []string{"have more than 500000 variables"}, make: func(t *testing.T, repo, _ string) {
			var b, v strings.Builder
			for i := range 2000 {
				fmt.Fprintf(&v, "  V%d: x\n", i)
				b.WriteString(strings.Replace(fluxKs(fmt.Sprint("k", i), "  postBuild: {substituteFrom: [{kind: ConfigMap, name: all}]}\n"), fmt.Sprintf("./k%d", i), "./app", 1))
			}
			files(map[string]string{"clusters/one/ks.yaml": b.String() + configMap("all", v.String()), "app/a.yaml": configMap("a", "  b: ${V1}\n")})(t, repo, "")
		}},
		{name: "artifacts of everything", want: []string{"the artifacts of all generators are too large"}, make: func(t *testing.T, repo, _ string) {
			generator := strings.Builder{}
			generator.WriteString("---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: all, namespace: flux-system}\nspec:\n" +
				"  sources: [{alias: all, kind: GitRepository, name: flux-system}]\n  artifacts:\n")
			var b strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&generator, "    - {name: a%d, copy: [{from: '@all/app/**', to: '@artifact/'}]}\n", i)
				b.WriteString(strings.Replace(fluxKs(fmt.Sprint("k", i), ""), "kind: GitRepository\n    name: flux-system\n", fmt.Sprintf("kind: ExternalArtifact\n    name: a%d\n", i), 1))
			}
			files(map[string]string{
				"clusters/one/ks.yaml": b.String() + generator.String(),
				"clusters/one/flux-system/gotk-sync.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, url: https://example.com/x, ref: {branch: main}}\n" +
					strings.ReplaceAll(fluxKs("flux-system", ""), "./flux-system", "./clusters/one"),
				"app/a.yaml": configMap("a", "  b: "+strings.Repeat("x", 1_000_000)+"\n"),
			})(t, repo, "")
		}},
		{name: "aliases around a variable", want: []string{"may become too large by variable substitution"}, make: func(t *testing.T, repo, _ string) {
			var b strings.Builder
			for i := range 500 {
				b.WriteString(configMap(fmt.Sprint("a", i), "  b: ${V}\n"))
			}
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "  postBuild:\n    substitute:\n      V: '"+laughs(5)+"'\n"), "app/a.yaml": b.String()})(t, repo, "")
		}},
		{name: "1,000 clusters", make: func(t *testing.T, repo, _ string) {
			for i := range 1000 {
				dir := fmt.Sprintf("clusters/c%d/flux-system", i)
				files(map[string]string{
					dir + "/gotk-sync.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, url: https://example.com/x, ref: {branch: main}}\n" +
						strings.ReplaceAll(fluxKs("flux-system", ""), "./flux-system", fmt.Sprintf("./clusters/c%d", i)) + fluxKs("app", ""),
				})(t, repo, "")
			}
			var b strings.Builder
			for i := range 100 {
				b.WriteString(configMap(fmt.Sprint("a", i), "  b: c\n"))
			}
			files(map[string]string{"app/a.yaml": b.String()})(t, repo, "")
		}},
	}
}

// oddFiles are no regular text.
func oddFiles() []hostileCase {
	return []hostileCase{
		{name: "pipes, sockets and devices", make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "") + fluxKs("generated", "") + fluxKs("piped", ""), "generated/kustomization.yaml": "configMapGenerator:\n  - name: a\n    files: [pipe, ../app/pipe.yaml, /dev/zero, /dev/stdin]\n"})(t, repo, "")
			for _, dir := range []string{"app", "piped"} {
				if err := os.MkdirAll(filepath.Join(repo, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"app/pipe.yaml", "generated/pipe", "piped/kustomization.yaml", ".sourceignore", ".fleetwright.yaml", "fleetwright.yaml"} {
				if err := unix.Mkfifo(filepath.Join(repo, name), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			socket, err := net.Listen("unix", filepath.Join(repo, "app/s.yaml"))
			if err != nil {
				t.Logf("no socket: %v", err) // its path may be too long
			} else {
				t.Cleanup(func() { _ = socket.Close() })
			}
			if err := unix.Mknod(filepath.Join(repo, "app/zero.yaml"), unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5))); err != nil {
				t.Logf("no device: %v", err) // only root may make one
			}
			for name, target := range map[string]string{"app/link.yaml": "/dev/zero", "app/stdin.yaml": "/dev/stdin", "app/proc.yaml": "/proc/self/environ"} {
				if err := os.Symlink(target, filepath.Join(repo, name)); err != nil {
					t.Fatal(err)
				}
			}
		}, status: 2},
		{name: "bytes that are no text", make: files(map[string]string{
			"clusters/one/ks.yaml":        fluxKs("app", "") + fluxKs("bin", "") + fluxKs("wide", ""),
			"app/nul.yaml":                configMap("a", "  b: \x00\n"),
			"app/latin.yaml":              configMap("b", "  b: \xe9\xff\xfe\n"),
			"app/crlf.yaml":               strings.ReplaceAll(configMap("c", "  b: c\n"), "\n", "\r\n"),
			"app/cr.yaml":                 strings.ReplaceAll(configMap("d", "  b: c\n"), "\n", "\r"),
			"app/controls.yaml":           configMap("e", "  b: \"\x1b[31mred\x1b[0m \x07\"\n"),
			"app/\x1b[31mname\n.yaml":     configMap("f", "  b: c\n  b: d\n"),
			"app/\xff\xfe.yaml":           configMap("g", "  b: c\n"),
			"bin/kustomization.yaml":      "configMapGenerator:\n  - name: a\n    files: [x.bin]\n    envs: [x.bin]\n",
			"bin/x.bin":                   string(bytes.Repeat([]byte{0, 255, '=', '\n'}, 1000)),
			"wide/kustomization.yaml":     "\xff\xfer\x00e\x00s\x00o\x00u\x00r\x00c\x00e\x00s\x00:\x00 \x00[\x00]\x00",
			"wide/\u202egnp.yaml":         configMap("h", "  b: c\n"),
			"clusters/one/overlong.yaml":  "a: \xc0\xaf\xc0\xae\n",
			"clusters/one/surrogate.yaml": "a: \"\\ud800\"\n",
		})},
		{name: "many files", make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("app", "")})(t, repo, "")
			for i := range 20_000 {
				putFile(t, filepath.Join(repo, fmt.Sprintf("app/d%d/f%d.yaml", i/100, i)), nil)
			}
		}},
		{name: "deep folders", want: []string{"was not checked: it is not read: folders nest deeper than 200 [limit-exceeded]"}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{"clusters/one/ks.yaml": fluxKs("d", "")})(t, repo, "")
			putFile(t, filepath.Join(repo, strings.Repeat("d/", 1500), "a.yaml"), []byte(configMap("a", "  b: c\n")))
		}},
		{name: "patterns that ignore", make: func(t *testing.T, repo, _ string) {
			files(map[string]string{
				"clusters/one/ks.yaml": fluxKs("app", ""),
				".sourceignore":        strings.Repeat(strings.Repeat("**/*a*", 20)+"\n!"+strings.Repeat("*b", 300)+"\n", 2000),
			})(t, repo, "")
			for i := range 2000 {
				putFile(t, filepath.Join(repo, fmt.Sprintf("app/aaaaaaaaaaaaaaaaaa/aaaaaaaaaaaaaaaaaa/aaaaaaaaaaaaaa/%d.yaml", i)), []byte(configMap(fmt.Sprint("a", i), "  b: c\n")))
			}
		}},
	}
}
