//go:build hostile && unix

package main

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	mutations    = flag.Int("mutations", 40, "how many repositories TestHostileMutations makes")
	mutationSeed = flag.Uint64("mutation-seed", 1, "what the first of them is made of; each next one is one more")
)

// TestHostileMutations runs the command on repositories that a grammar makes of the hostile cases:
// each has some documents of the grammar's own, and the files of a case with values, lines and names
// exchanged. It holds what TestHostile holds. A repository has about 20 inputs, so that
//
//	make hostile HOSTILE=5000 SEED=1
//
// tries 100,000.
func TestHostileMutations(t *testing.T) {
	binary := builtCommand(t)
	h := hostileTest{binary: binary}
	if canConfine(t) {
		h.confine, h.allowed = true, outsideFiles(t, binary)
	}
	cases := append(hostileCases(), hostileArchives(t)...)
	cases = slices.DeleteFunc(cases, func(c hostileCase) bool { return c.writes || c.status != 0 })
	turns := make(chan struct{}, strangerCores)
	for i := range *mutations {
		seed := *mutationSeed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			turns <- struct{}{}
			defer func() { <-turns }()
			m := mutator{rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // the same each time
			c := cases[m.IntN(len(cases))]
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			repo, outside := filepath.Join(dir, "repository"), filepath.Join(dir, "outside")
			writeCanaries(t, outside)
			if err := os.MkdirAll(repo, 0o755); err != nil {
				t.Fatal(err)
			}
			c.make(t, repo, outside)
			m.mutate(t, repo)
			m.addObjects(t, repo)
			command := m.pick("validate", "validate", "validate", "build --cluster one", "bootstrap verify", "validate --format sarif",
				"fn ValidateFleet", "fn RenderFleet", "bootstrap plan", "secrets check", "secrets verify")
			h.run(t, hostileCase{name: c.name, status: statusUsage}, repo, strings.Fields(command))
			if t.Failed() {
				t.Logf("seed %d, of %q, %s", seed, c.name, command)
			}
		})
	}
}

// mutator makes hostile input of random numbers.
type mutator struct{ *rand.Rand }

func (m mutator) pick(of ...string) string { return of[m.IntN(len(of))] }

// mostMutated is the size in bytes of a file that is changed.
const mostMutated = 64 << 10

// mutate changes a few of the files in a repository.
func (m mutator) mutate(t *testing.T, repo string) {
	t.Helper()
	var small []string
	err := filepath.WalkDir(repo, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // a case's odd files are left alone
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 && info.Size() < mostMutated {
			small = append(small, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range min(len(small), 1+m.IntN(8)) {
		path := small[m.IntN(len(small))]
		data, err := os.ReadFile(path)
		if err != nil {
			continue // not readable is one of the cases
		}
		lines := strings.SplitAfter(string(data), "\n")
		for range 1 + m.IntN(3) {
			lines = m.edit(lines)
		}
		putFile(t, path, []byte(strings.Join(lines, "")))
	}
}

// edit changes a line: its value, its place, or how often it is there.
func (m mutator) edit(lines []string) []string {
	i := m.IntN(len(lines))
	line := strings.TrimRight(lines[i], "\n")
	switch m.IntN(6) {
	case 0, 1, 2:
		if key, _, ok := strings.Cut(line, ": "); ok {
			lines[i] = key + ": " + m.value(0) + "\n"
		}
	case 3:
		lines[i] = strings.Repeat(lines[i], 2+m.IntN(200))
	case 4:
		j := m.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
	case 5:
		lines = slices.Delete(lines, i, min(len(lines), i+1+m.IntN(3)))
	}
	if len(lines) == 0 {
		return []string{"a: b\n"}
	}
	return lines
}

// value is a value of the grammar: a hostile text, number, list or map.
func (m mutator) value(depth int) string {
	if depth > 3 {
		return "x"
	}
	switch m.IntN(12) {
	case 0:
		return m.pick(`"1e-999999999"`, `"1e999999999"`, "1e1000000", "0x1p-99999", ".inf", "-.nan", "9"+strings.Repeat("9", 500), "-9223372036854775809", `"1E2147483647"`, "0o777777777777777777777777")
	case 1:
		return m.pick(`"((a{1000}){1000})"`, `"(((a{100}){100}){100}){100}"`, `"(a*)*(a|aa)*b"`, `"["`, `"(?P<n>.{0,1000}){0,1000}"`, `"^(.*)*$"`)
	case 2:
		return m.pick(`"{{ range $i := until 1000000000 }}{{ $i }}{{ end }}"`, `"{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}"`,
			`"{{ $d := dict }}{{ $_ := set $d \"a\" $d }}{{ eq $d $d }}"`, `"{{ repeat 1000000000 \"a\" }}"`, `"{{ printf \"%999999999d\" 1 }}"`, `"{{ tpl .Values.a . }}"`)
	case 3:
		return m.pick(`"${A}${A}${A}"`, `"${A:=${B:=${C:=${A}}}}"`, `"${A//a/b}"`, `"$(A)$(B)"`, `"${A:0:99999999999}"`)
	case 4:
		return m.pick(`"../../../../etc/passwd"`, "/proc/self/environ", `"a[65535][65535][65535]"`, `"/a/65535/-"`, `"data.*.*.*"`, `"https://example.com/x?ref=${A}"`, `"./."`, `"\u0000"`)
	case 5:
		return `"` + strings.Repeat(m.pick("a", "é", " ", "\\n", "${A}", "{{ . }}"), 1<<m.IntN(14)) + `"`
	case 6:
		return m.pick("!!binary ====", "!!timestamp 2001-99-99", "!!float x", "!custom {a: b}", "&a [*a]", "*missing", "~", "2001-01-01", "<<", "y")
	case 7, 8:
		n := 1 + m.IntN(4)
		return "[" + strings.TrimSuffix(repeat(n, func(int) string { return m.value(depth+1) + ", " }), ", ") + "]"
	case 9, 10:
		n := 1 + m.IntN(4)
		return "{" + strings.TrimSuffix(repeat(n, func(i int) string {
			return m.pick("name", "a", "spec", "data", "kind", "namespace", "\"/\"", fmt.Sprint("k", i)) + ": " + m.value(depth+1) + ", "
		}), ", ") + "}"
	}
	return strings.Repeat("[", 1+m.IntN(300)) + "x" // which isn't closed
}

// addObjects writes objects of kinds that are evaluated, with values of the grammar.
func (m mutator) addObjects(t *testing.T, repo string) {
	t.Helper()
	v := func() string { return m.value(0) }
	n := func() string { return fmt.Sprint("g", m.IntN(5)) }
	all := map[string]func() string{
		"deployment": func() string {
			return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + n() + ", namespace: flux-system}\nspec:\n  template:\n    spec:\n      containers:\n      - {name: c, image: " + v() + ", resources: {limits: {cpu: " + v() + "}}, ports: " + v() + "}\n"
		},
		"limits": func() string {
			return "apiVersion: v1\nkind: LimitRange\nmetadata: {name: " + n() + ", namespace: flux-system}\nspec: {limits: [{type: Container, max: {cpu: " + v() + "}, default: " + v() + "}]}\n"
		},
		"secret": func() string {
			return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + n() + ", namespace: flux-system}\nstringData: {a: " + v() + "}\nsops: " + v() + "\n"
		},
		"release": func() string {
			return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + n() + ", namespace: flux-system}\nspec:\n  interval: 1h\n  chart: {spec: {chart: ./chart, version: " + v() + ", sourceRef: {kind: GitRepository, name: flux-system}}}\n  valuesFrom: [{kind: ConfigMap, name: " + n() + ", targetPath: " + v() + "}]\n  values: " + v() + "\n"
		},
		"kustomization": func() string {
			return fluxKs(n(), "  postBuild: {substitute: {A: "+v()+", B: "+v()+"}}\n  patches: [{patch: "+v()+", target: {name: "+v()+"}}]\n")
		},
		"definition": func() string {
			return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {kind: Thing, plural: things}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, pattern: " + v() + ", x-kubernetes-validations: [{rule: " +
				m.pick(`"quantity(self).isGreaterThan(quantity('1'))"`, `"self.matches(self)"`, v()) + "}]}, b: {multipleOf: " + v() + "}}}}\n---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\na: " + v() + "\nb: " + v() + "\n"
		},
		"set": func() string {
			return "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: " + n() + ", namespace: flux-system}\nspec: {inputs: [{a: " + v() + "}], resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: \"<< inputs.a >>\", namespace: x}, data: {a: " + v() + "}}]}\n"
		},
	}
	names := []string{"deployment", "limits", "secret", "release", "kustomization", "definition", "set"}
	for i := range 4 + m.IntN(6) {
		name := names[m.IntN(len(names))]
		putFile(t, filepath.Join(repo, "clusters/one", fmt.Sprintf("grammar-%d-%s.yaml", i, name)), []byte(all[name]()))
	}
	putFile(t, filepath.Join(repo, "app/kustomization.yaml"), []byte("resources: ["+m.pick("a.yaml", "..", "../clusters/one", "a.yaml, b.yaml")+"]\n"+m.pick("patches", "replacements", "vars", "configMapGenerator", "images", "labels", "transformers")+": "+v()+"\n"))
	if m.IntN(2) == 0 {
		putFile(t, filepath.Join(repo, "chart/Chart.yaml"), []byte("apiVersion: v2\nname: chart\nversion: 1.0.0\n"))
		putFile(t, filepath.Join(repo, "chart/templates/a.yaml"), []byte("a: "+v()+"\n"))
		putFile(t, filepath.Join(repo, "chart/values.schema.json"), []byte(`{"type": "object", "properties": {"a": {"pattern": `+v()+`, "maximum": `+v()+`, "multipleOf": `+v()+`}}}`))
	}
	putFile(t, filepath.Join(repo, ".sops.yaml"), []byte("creation_rules:\n- path_regex: "+v()+"\n  encrypted_regex: "+v()+"\n  age: x\n"))
	putFile(t, filepath.Join(repo, "bootstrap/helmfile.yaml"), []byte("releases:\n- name: "+n()+"\n  namespace: flux-system\n  chart: "+v()+"\n  set: [{name: "+v()+", value: "+v()+"}]\n  values: ["+v()+"]\n"))
}
