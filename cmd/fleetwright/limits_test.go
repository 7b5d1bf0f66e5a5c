package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/testuser"
)

// limitCase is the smallest repository that goes beyond a counter.
type limitCase struct {
	files map[string]string
	want  string // the error, with its place
	runs  string // the command; validate if it is ""
}

// TestLimits: what goes beyond a fixed limit is one error of limit-exceeded that names file and unit, with
// status 1, and no question beside it. Everything else is checked.
func TestLimits(t *testing.T) {
	for name, c := range limitCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.files["other/cm.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: flux-system}\ndata: {a: 1}\n"
			c.files["clusters/one/other.yaml"] = fluxKs("other", "")
			for file, content := range c.files {
				putFile(t, filepath.Join(dir, file), []byte(content))
			}
			command := strings.Fields(c.runs)
			if c.runs == "" {
				command = []string{"validate"}
			}
			cmd := exec.CommandContext(t.Context(), "fleetwright", command...)
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput() // the status is looked at
			text := string(out)
			if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(text, c.want) || !strings.Contains(text, "the limit is fixed") {
				t.Errorf("status %d, want %q:\n%s", cmd.ProcessState.ExitCode(), c.want, tail(text))
			}
			if c.runs == "" && (!strings.Contains(text, c.want+" ") && !strings.Contains(text, "[limit-exceeded]") || !strings.Contains(text, "other/cm.yaml:4:11: error: ")) {
				t.Errorf("the rest is not checked:\n%s", tail(text))
			}
			if strings.Count(text, "was not checked: ") != 1 {
				t.Errorf("it is reported more than once:\n%s", tail(text))
			}
		})
	}
}

// TestUnreadableBuild: a build that lacks a file for its permissions is an error that says what to do about them.
func TestUnreadableBuild(t *testing.T) {
	if testuser.Again(t) {
		return
	}
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "clusters/one/ks.yaml"), []byte(fluxKs("app", "")))
	putFile(t, filepath.Join(dir, "app/a.yaml"), nil)
	if err := os.Chmod(filepath.Join(dir, "app/a.yaml"), 0); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.CommandContext(t.Context(), "fleetwright", "build", dir).CombinedOutput() // the output is looked at
	want := "app/a.yaml: error: the build of Kustomization flux-system/app was not checked: cannot be read: permission denied\n  hint: " + repository.AccessHint + "\n"
	if text := string(out); !strings.HasSuffix(text, want) || strings.Contains(text, "unresolved") {
		t.Errorf("got %s", text)
	}
}

func limitCases() map[string]limitCase {
	all := map[string]limitCase{}
	for _, some := range []map[string]limitCase{fileLimits(), schemaLimits(), secretLimits(), clusterLimits(), chartLimits(), bootstrapLimits()} {
		for name, c := range some {
			all[name] = c
		}
	}
	return all
}

// inApp is a Kustomization of a file.
func inApp(content, want string) limitCase {
	return limitCase{files: map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": content}, want: want}
}

func fileLimits() map[string]limitCase {
	long := strings.Repeat("x", 10<<20)
	all := map[string]limitCase{
		"bytes of a file":     inApp(configMap("a", "  b: "+long+"\n"), "app/a.yaml: error: app/a.yaml was not checked: it is 10.0 MB; files up to 10.0 MB are read"),
		"documents of a file": inApp(configMap("a", "  b: c\n")+strings.Repeat("---\na: b\n", 10_000), "error: app/a.yaml was not checked: it has more than 10000 documents"),
		"aliases":             inApp(configMap("a", "  b: "+laughs(7)+"\n"), "app/a.yaml:2:1: error: app/a.yaml was not checked: the document's aliases expand"),
		"nesting":             inApp(thing("l: "+strings.Repeat("[", 300)+strings.Repeat("]", 300)), "error: app/a.yaml was not checked: "),
		"a pattern to ignore": {want: "error: .sourceignore was not checked: it has a pattern of more than 1000 characters",
			files: map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), ".sourceignore": "/app/*\n!/app/" + strings.Repeat("?", 1000) + "\n", "app/a.yaml": configMap("a", "  b: c\n")}},
		"bytes to ignore": {want: "error: .sourceignore was not checked: it is larger than 1.0 MB",
			files: map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), ".sourceignore": strings.Repeat("#\n", 1<<19+1), "app/a.yaml": configMap("a", "  b: c\n")}},
		"patterns to ignore": {want: "error: .sourceignore was not checked: it has more than 500 patterns",
			files: map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), ".sourceignore": strings.Repeat("x\n", 501), "app/a.yaml": configMap("a", "  b: c\n")}},
		"folders": {want: "was not checked: it is not read: folders nest deeper than 200",
			files: map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), strings.Repeat("d/", 202) + "a.yaml": "a: b\n", "app/a.yaml": configMap("a", "  b: c\n")}},
	}
	all["replacements that double"] = limitCase{want: "error: Kustomization flux-system/app was not checked: 6 replacements insert a field into itself",
		files: map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: c\n"), "app/kustomization.yaml": "resources: [a.yaml]\nreplacements:\n" +
			strings.Repeat("  - source: {kind: ConfigMap, name: a, fieldPath: data.b}\n    targets: [{select: {name: a}, fieldPaths: [data.b], options: {delimiter: '!', index: -1}}]\n", 6)}}
	all["vars"] = limitCase{want: "error: Kustomization flux-system/app was not checked: its vars may insert texts of more than 256 MB",
		files: map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: "+long[:1<<20]+"\n") + "---\n" + configMap("c", "  b: "+strings.Repeat("$(V)", 300)+"\n"),
			"app/kustomization.yaml": "resources: [a.yaml]\nvars:\n  - name: V\n    objref: {apiVersion: v1, kind: ConfigMap, name: a}\n    fieldref: {fieldpath: data.b}\n"}}
	build := all["bytes of a file"]
	build.runs, build.files, build.want = "build --cluster one", map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "clusters/one/large.yaml": configMap("a", "  b: "+long+"\n")}, "clusters/one/large.yaml"
	all["bytes of a file in build"] = build
	return all
}

func schemaLimits() map[string]limitCase {
	many := strings.Repeat("(a{900})", 90)
	of := func(schema, fields string) string { return definition(schema) + thing(fields) }
	return map[string]limitCase{
		"digits of a quantity": inApp("apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: b}\nspec:\n  limits:\n    - type: Container\n      max:\n        cpu: \"1e-999\"\n",
			"app/a.yaml:8:14: error: spec.limits[0].max.cpu of LimitRange b/a was not checked: a number with the exponent -999 is not evaluated"),
		"a pattern of a definition": inApp(of("{type: object, properties: {s: {type: string, pattern: '"+many+"'}}}", "s: a"), "Thing flux-system/a was not checked: the CustomResourceDefinition in app/a.yaml:2 cannot be used: a regular expression"),
		"a pattern and a text":      inApp(of("{type: object, properties: {s: {type: string, pattern: '^(a?){900}(b?){900}(c?){900}$'}}}", "s: "+strings.Repeat("a", 100_000)), "Thing flux-system/a was not checked: the schema of Thing: matching its regular expressions"),
		"a pattern in a rule":       inApp(of("{type: object, properties: {p: {type: string}}, x-kubernetes-validations: [{rule: \"'a'.matches(self.p)\"}]}", "p: '"+many+"'"), "Thing flux-system/a was not checked: the rules of Thing: a regular expression"),
		"the length of a rule":      inApp(of("{type: object, properties: {p: {type: string}}, x-kubernetes-validations: [{rule: \"self.p.matches('a') || "+strings.Repeat(" ", 20_000)+"true\"}]}", "p: a"), "Thing flux-system/a was not checked: the rules of Thing: a rule has 20"),
		"the cost of rules": inApp(of("{type: object, properties: {l: {type: array, items: {type: integer}}}, x-kubernetes-validations: [{rule: 'self.l.all(x, self.l.all(y, x + y >= 0))'}]}", "l: ["+strings.Repeat("1, ", 1000)+"]"),
			"Thing flux-system/a was not checked: the rules of Thing cost more than 300000"),
	}
}

func secretLimits() map[string]limitCase {
	text := "kind: Secret\nstringData:\n  a: b\n"
	for range 4 {
		text = "kind: ConfigMap\ndata:\n  a: |\n    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
	}
	within := inApp("apiVersion: v1\nmetadata: {name: a, namespace: b}\n"+text, "error: the string a of ConfigMap b/a was not checked: it is a string nested in 3 others")
	regex := "'" + strings.Repeat("(a{30}b?)", 80) + "'"
	config := inApp(configMap("a", "  b: c\n"), ".sops.yaml:2:17: error: .sops.yaml was not checked: the path_regex was not evaluated: ")
	config.files[".sops.yaml"] = "creation_rules:\n  - path_regex: " + regex + "\n    age: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq\n"
	rules := inApp(configMap("a", "  b: c\n"), "error: .sops.yaml was not checked: cannot determine which values are encrypted: ")
	rules.files[".sops.yaml"] = strings.Replace(config.files[".sops.yaml"], "path_regex", "encrypted_regex", 1)
	keys := inApp(configMap("a", "  b: c\n"), "notes/key.txt: error: the content of this file and the following ones (for private keys) was not checked: the files that mention keys exceed 12 MB")
	for i := range 2 {
		keys.files[fmt.Sprintf("notes/big%d.txt", i)] = strings.Repeat("PRIVATE KEY ", 500_000)
	}
	keys.files["notes/key.txt"] = strings.Repeat("PRIVATE KEY ", 100_000)
	return map[string]limitCase{"texts within texts": within, "a path_regex": config, "an encrypted_regex": rules, "texts that speak of keys": keys}
}

func clusterLimits() map[string]limitCase {
	reads := inApp(configMap("a", "  b: c\n"), "error: Kustomization flux-system/app was not checked: the build reads files more than 20000 times")
	reads.files["app/kustomization.yaml"], reads.files["app/f.txt"] = "configMapGenerator:\n  - name: f\n    files:\n"+strings.Repeat("      - f.txt\n", 20_001), "x"
	selected := inApp("apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a, namespace: b}\nspec:\n  endpoints: [{port: a}]\n  selector: {matchLabels: {a: long}}\n"+
		"  namespaceSelector: {matchNames: ["+strings.Repeat("b, ", 10_000)+"]}\n", "cluster one: the matching of its selectors was not checked: it needs more than 1000000 comparisons with labels")
	order := inApp(definition("{type: object}"), "cluster one: the order of its CRDs was not checked: its Kustomizations depend on each other in more than 1000000 ways")
	order.files["thing/a.yaml"] = thing("")
	for i := range 101 {
		selected.files["app/a.yaml"] += fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d, namespace: b, labels: {a: other}}\nspec: {type: ExternalName, externalName: a.example.com}\n", i)
	}
	for i := range 50 {
		k := fluxKs(fmt.Sprintf("k%d", i), fmt.Sprintf("  dependsOn: [%s]\n", strings.Repeat(fmt.Sprintf("{name: k%d}, ", i-1), 900)))
		order.files["clusters/one/ks.yaml"] += strings.Replace(k, fmt.Sprintf("./k%d", i), "./thing", 1)
	}
	nested := inApp(configMap("a", "  b: c\n"), "error: Kustomization flux-system/app was not checked: its components are nested more than 10 deep")
	nested.files["app/kustomization.yaml"], nested.files["c11/kustomization.yaml"] = "resources: [a.yaml]\ncomponents: [../c1]\n", "kind: Component\n"
	for i := range 10 {
		nested.files[fmt.Sprintf("c%d/kustomization.yaml", i+1)] = fmt.Sprintf("kind: Component\ncomponents: [../c%d]\n", i+2)
	}
	return map[string]limitCase{"files that a build reads": reads, "components in each other": nested, "labels and selectors": selected, "Kustomizations that depend on each other": order}
}

func chartLimits() map[string]limitCase {
	chart := func(schema, spec, want string) limitCase {
		return limitCase{want: want, files: map[string]string{
			"clusters/one/hr.yaml": hostileRelease("a", "charts/a", spec) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: flux-system}\ndata: {k: x}\n",
			"charts/a/Chart.yaml":  "apiVersion: v2\nname: a\nversion: 1.0.0\n", "charts/a/values.schema.json": schema,
		}}
	}
	const values, check = "  values: {a: 1}\n", "error: the check of the values of HelmRelease flux-system/a was not checked: the schema of the chart a: "
	indexes := ""
	for i := range 2 {
		indexes += fmt.Sprintf("    - {kind: ConfigMap, name: v, valuesKey: k, targetPath: 'a[%d][65535]'}\n", i)
	}
	again := chart("{}", "", "HelmRelease flux-system/axxxxx was not checked: it is not rendered: charts install HelmReleases nested more than 4 levels deep")
	again.files["charts/a/templates/hr.yaml"] = hostileRelease("{{ .Release.Name }}x", "charts/a", "")
	return map[string]limitCase{
		"charts that bring releases":    again,
		"a number of a chart's schema":  chart(`{"properties": {"a": {"maximum": 1e999}}}`, values, check+"a number with the exponent 999"),
		"a pattern of a chart's schema": chart(`{"properties": {"a": {"pattern": "`+strings.Repeat("(a{900})", 90)+`"}}}`, values, check+"a regular expression"),
		"indexes of a targetPath":       chart("{}", "  valuesFrom:\n"+indexes, "error: HelmRelease flux-system/a was not checked: it is not rendered: valuesFrom was not evaluated: "),
	}
}

func bootstrapLimits() map[string]limitCase {
	helmfile := func(release, want string) limitCase {
		return limitCase{want: want, files: map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: c\n"),
			"bootstrap/helmfile.yaml": "releases:\n  - name: a\n    namespace: flux-system\n    chart: oci://example.com/a\n    version: 1.0.0\n" + release,
		}}
	}
	const of = "error: the bootstrap of bootstrap/helmfile.yaml was not checked: "
	set := helmfile("    set:\n      - {name: 'a[0][65535]', value: b}\n      - {name: 'a[1][65535]', value: b}\n", of+"the indexes in its paths create more than 100000 elements of lists")
	verify := helmfile("    set:\n      - {name: 'a[0][65535]', value: b}\n      - {name: 'a[1][65535]', value: b}\n", set.want)
	verify.runs = "bootstrap verify"
	long := helmfile("    values: [v.yaml.gotmpl]\n", of+"the template is larger than 1 MB, or has more than 100000 actions")
	long.files["bootstrap/v.yaml.gotmpl"] = strings.Repeat("{{ 1 }}", 100_001)
	repeated := helmfile("    values: [v.yaml.gotmpl]\n", of+"the template repeats its parts more than 1000000 times")
	repeated.files["bootstrap/v.yaml.gotmpl"] = "{{ range 1001 }}{{ range 1000 }}{{ end }}{{ end }}"
	called := helmfile("helmfiles:\n"+strings.Repeat("  - path: sub.yaml\n", 201), of+"it uses other helmfiles as bases, or calls them, more than 200 times")
	called.files["bootstrap/sub.yaml"] = "releases: []\n"
	inputs := helmfile("", "error: the document of ResourceSet flux-system/a was not checked: it has more than 1000 inputs")
	inputs.files["clusters/one/set.yaml"] = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: flux-system}\nspec:\n  inputs: [" +
		strings.Repeat("{a: b}, ", 1001) + "]\n  resources:\n    - {apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.a >>, namespace: flux-system}}\n"
	const orphan = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: flux-system}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: a}}\n"
	around := helmfile("", "error: the comparison of apps/a.yaml was not checked: more than 50 kustomizations around it list each other")
	around.files["apps/a.yaml"], around.files["apps/kustomization.yaml"], around.files["bases/kustomization.yaml"] = orphan, "resources: [a.yaml, ../bases]\n", "resources: [../apps]\n"
	unapplied := helmfile("", "error: the build of folders that no cluster applies was not checked: there are more than 50 with HelmReleases of the bootstrap, ")
	for i := range 51 {
		unapplied.files[fmt.Sprintf("apps/%d/a.yaml", i)], unapplied.files[fmt.Sprintf("apps/%d/kustomization.yaml", i)] = orphan, "resources: [a.yaml]\n"
	}
	return map[string]limitCase{
		"kustomizations around a file": around, "folders that no cluster applies": unapplied,
		"indexes of set": set, "indexes of set in verify": verify,
		"actions of a template": long, "repetitions of a template": repeated, "helmfiles that are called": called, "inputs of a ResourceSet": inputs,
	}
}
