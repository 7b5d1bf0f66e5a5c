package helmfile

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// randomHelmfiles is how many helmfiles TestRandomHelmfiles compares.
const randomHelmfiles = 25

// TestRandomHelmfiles compares random helmfiles over all features that are read
// here with the real helmfile: the releases that it lists, the reason for which
// it refuses, the values that it writes, and for some the values that Helm gets.
func TestRandomHelmfiles(t *testing.T) {
	compareRandom(t, 1, randomHelmfiles, false)
}

// compareRandom compares n helmfiles, from the seed first on.
func compareRandom(t *testing.T, first, n int, unrecorded bool) {
	t.Helper()
	compared := 0
	for seed := first; seed < first+n; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), files: map[string]string{}, local: seed%4 == 0}
			file := g.helmfile()
			a := g.archive()
			repo, o := testarchive.Repository(t, a), newOracle(t, a)
			o.unrecorded = unrecorded
			compared += o.compare(t, repo, file)
			if seed%4 == 0 {
				o.compareRendered(t, repo, file)
			}
			if t.Failed() {
				t.Logf("%s", txtar.Format(a))
			}
		})
	}
	t.Logf("%d releases compared", compared)
}

// compareRendered compares the values that Helm gets, set included.
func (o *oracle) compareRendered(t *testing.T, repo *repository.Repository, file string) {
	t.Helper()
	r := newReader(t.Context(), repo)
	releases, err := r.releases(file, nil, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	incomplete := func(r *Release) bool { return len(r.effective().Unresolved) > 0 }
	if refusalOf(releases, installing+1) != "" || slices.ContainsFunc(releases, incomplete) {
		return
	}
	theirs, err := o.rendered(t, file)
	installs := func(r *Release) bool { return r.installed && r.Skipped == nil && !r.undecided }
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "no releases found"):
		if i := slices.IndexFunc(releases, installs); i >= 0 {
			t.Errorf("helmfile template finds no releases, we install %s", releases[i].ID())
		}
		return
	default:
		if !strings.Contains(err.Error(), "an undefined release") {
			t.Errorf("helmfile template: %v", err)
		}
		return
	}
	for _, each := range releases {
		if !each.installed || each.Skipped != nil || !strings.HasSuffix(each.Chart.Value, "chart") || strings.Contains(each.Chart.Value, "://") {
			continue
		}
		got, ok := theirs[cmp.Or(each.Namespace.Value, "default")+"/"+each.Name.Value]
		if !ok {
			t.Errorf("helmfile template has no %s", each.ID())
			continue
		}
		compareTrees(t, each.ID(), withoutNulls(each.Values.Value), withoutNulls(treeOf(got)))
	}
}

// withoutNulls leaves out what Helm drops: a null in a map.
func withoutNulls(v *located.Value) *located.Value {
	if v == nil || !v.IsMap {
		return v
	}
	out := located.EmptyMap(v.Place)
	for k, f := range v.Fields {
		if f.IsMap || f.IsList || f.Scalar != nil {
			out.Fields[k] = withoutNulls(f)
		}
	}
	return out
}

// treeOf makes a value of what JSON decodes to.
func treeOf(v any) *located.Value {
	switch v := v.(type) {
	case map[string]any:
		out := located.EmptyMap(located.Place{})
		for k, f := range v {
			out.Fields[k] = treeOf(f)
		}
		return out
	case []any:
		out := &located.Value{IsList: true}
		for _, item := range v {
			out.Items = append(out.Items, treeOf(item))
		}
		return out
	}
	return &located.Value{Scalar: v}
}

// generator makes helmfiles of random features.
type generator struct {
	*rand.Rand
	files map[string]string
	names int
	local bool // only charts that are at hand
}

func (g *generator) archive() *txtar.Archive {
	a := &txtar.Archive{}
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(g.files[name])})
	}
	return a
}

// maybe says yes in one of n cases.
func (g *generator) maybe(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// helmfile writes a helmfile with all that it needs, and returns its path.
func (g *generator) helmfile() string {
	dir := pick(g, "", "boot/")
	g.files[dir+"chart/Chart.yaml"] = "apiVersion: v2\nname: chart\nversion: 1.0.0\n"
	g.files[dir+"chart/templates/values.yaml"] = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\ndata: {values: {{ .Values | toJson | quote }}}\n"
	g.files["git/hr.yaml"] = "kind: HelmRelease\nmetadata: {name: x}\nspec:\n  chart: {spec: {version: 1.2.3, chart: cilium}}\n  ref: {tag: v2.0.1}\n  url: oci://ghcr.io/x/y\n  values:\n" + g.values(4, 2)
	file := dir + pick(g, "helmfile.yaml", "helmfile.yaml.gotmpl", "apps.yaml")
	g.state(file, dir, 0)
	return file
}

// state writes one helmfile.
func (g *generator) state(file, dir string, depth int) {
	var parts []string
	env := g.environment(dir)
	if g.maybe(3) {
		parts = append(parts, g.part(dir, "bases", depth))
	}
	if env != "" && (len(parts) > 0 || g.maybe(2)) {
		parts = append(parts, env)
		if g.maybe(3) {
			parts = append(parts, g.environment(dir))
		}
	} else if env != "" {
		parts = append(parts, env)
	}
	parts = append(parts, g.part(dir, "releases", depth))
	if g.maybe(6) {
		parts = append(parts, g.part(dir, pick(g, "releases", "defaults"), depth))
	}
	var kept []string
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			kept = append(kept, p)
		}
	}
	out := strings.Join(kept, "---\n")
	if g.maybe(8) {
		out = "---\n" + out
	}
	if g.maybe(12) {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	g.files[file] = g.escaped(file, out)
}

// escaped keeps the templates of releases from a helmfile that is one itself,
// and adds some of its own.
func (g *generator) escaped(file, content string) string {
	if !strings.HasSuffix(file, ".gotmpl") {
		return content
	}
	content = strings.NewReplacer("{{", "{{`{{`}}", "}}", "{{`}}`}}").Replace(content)
	lines := strings.SplitAfter(content, "\n")
	var b strings.Builder
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "    version: ") && g.maybe(2):
			line = "    version: {{ " + pick(g, `.Values | get "version" "7.7.7" | quote`, `"5.5.5"`, `printf "%d.0.0" (len .Environment.Name)`) + " }}\n"
		case strings.HasPrefix(line, "releases:") && g.maybe(3):
			line = "{{- if " + pick(g, "true", `eq .Environment.Name "default"`, `hasKey .Values "app"`) + " }}\n" + line + "{{- end }}\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// environment is a part with environments, values, or nothing.
func (g *generator) environment(dir string) string {
	var b strings.Builder
	if g.maybe(2) {
		b.WriteString("environments:\n  " + pick(g, "default", "default", "default", "other") + ":\n    values:\n" + g.stateValues(dir, 6))
		if g.maybe(4) {
			b.WriteString("    mergeStrategy: " + pick(g, "fallback", "override") + "\n")
		}
		if g.maybe(4) {
			b.WriteString("    missingFileHandler: " + pick(g, "Warn", "Error", "Info") + "\n")
		}
		if g.maybe(3) {
			b.WriteString("  other: {}\n")
		}
	}
	if g.maybe(3) {
		b.WriteString("values:\n" + g.stateValues(dir, 2))
	}
	return strings.ReplaceAll(b.String(), "  other: {}\n  other", "  other")
}

// stateValues are items of values of the state.
func (g *generator) stateValues(dir string, indent int) string {
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	for range 1 + g.IntN(3) {
		content := fmt.Sprintf("version: %s\napp: {enabled: %s, n: %d}\nlist: [%s]\nname: %s\n%s", pick(g, "1.2.3", "2.0.0", `"3"`),
			pick(g, "true", "false"), g.IntN(3), pick(g, "1, 2", "null, 5", ""), pick(g, "alpha", "beta"), g.values(2, 0))
		switch g.IntN(5) {
		case 0:
			name := g.name("env") + ".yaml"
			g.files[dir+name] = content
			b.WriteString(pad + "- " + name + "\n")
		case 1:
			name := g.name("env") + ".yaml.gotmpl"
			g.files[dir+name] = content + pick(g, "", "from: {{ .Environment.Name }}\n", "count: {{ len .Values }}\n",
				"file: {{ readFile \""+strings.Repeat("../", strings.Count(dir, "/"))+"git/hr.yaml\" | fromYaml | get \"spec.ref.tag\" }}\n")
			b.WriteString(pad + "- " + name + "\n")
		case 2:
			if g.maybe(5) {
				b.WriteString(pad + "- nowhere.yaml\n")
				continue
			}
			fallthrough
		default:
			b.WriteString(pad + "- " + strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n"+pad+"  ") + "\n")
		}
	}
	return b.String()
}

func (g *generator) name(prefix string) string {
	g.names++
	return prefix + strconv.Itoa(g.names)
}

// part is a part with bases or releases.
func (g *generator) part(dir, what string, depth int) string {
	var b strings.Builder
	if what == "bases" || g.maybe(6) {
		b.WriteString("bases:\n")
		for range 1 + g.IntN(2) {
			b.WriteString("  - " + g.base(dir) + "\n")
		}
	}
	if what == "bases" {
		return b.String()
	}
	b.WriteString(g.head())
	if depth < 2 && g.maybe(5) {
		b.WriteString("helmfiles:\n" + g.calls(dir, depth))
	}
	if what == "defaults" {
		return b.String()
	}
	if g.maybe(3) {
		b.WriteString("templates:\n" + g.templates(dir))
		if g.maybe(3) {
			b.WriteString("defaultInherit: " + pick(g, "t0", "[t0, t1]", "[ t1 ]") + "\n")
		}
	} else if g.maybe(40) {
		b.WriteString("defaultInherit: t0\n")
	}
	b.WriteString("releases:\n")
	for range 1 + g.IntN(3) {
		b.WriteString("  - " + strings.ReplaceAll(strings.TrimSuffix(g.release(dir), "\n"), "\n", "\n    ") + "\n")
	}
	return b.String()
}

// head are the fields beside releases.
func (g *generator) head() string {
	var b strings.Builder
	if g.maybe(2) {
		b.WriteString("repositories:\n  - {name: repo, url: " + pick(g, "https://charts.example.com", "ghcr.io/charts, oci: true") + "}\n")
	}
	if g.maybe(5) {
		b.WriteString("commonLabels: {tier: " + pick(g, "base", `"{{ .Release.Name }}"`) + "}\n")
	}
	if g.maybe(8) {
		b.WriteString("namespace: forced\n")
	}
	if g.maybe(5) {
		b.WriteString("helmDefaults: {wait: true, timeout: 600, createNamespace: false}\n")
	}
	if g.maybe(8) {
		b.WriteString("missingFileHandler: " + pick(g, "Warn", "Debug") + "\n")
	}
	if g.maybe(30) {
		b.WriteString(pick(g, "unknownField: 1\n", "commonLabels: [1]\n"))
	}
	return b.String()
}

// base writes a file to build upon.
func (g *generator) base(dir string) string {
	name := g.name("base") + pick(g, ".yaml", ".yaml.gotmpl")
	var b strings.Builder
	if g.maybe(2) {
		b.WriteString("environments:\n  default:\n    values:\n" + g.stateValues(dir, 6))
	}
	if g.maybe(3) {
		b.WriteString("values:\n" + g.stateValues(dir, 2))
	}
	b.WriteString("templates:\n" + g.templates(dir))
	if g.maybe(3) {
		b.WriteString("defaultInherit: [t0]\n")
	}
	if g.maybe(4) {
		b.WriteString("commonLabels: {from: base}\n")
	}
	if strings.Contains(b.String(), "environments") || g.maybe(5) {
		b.WriteString("helmDefaults: {wait: true}\n")
	} else if g.maybe(6) {
		b.WriteString("releases:\n  - " + strings.ReplaceAll(strings.TrimSuffix(g.release(dir), "\n"), "\n", "\n    ") + "\n")
	}
	g.files[dir+name] = g.escaped(name, b.String())
	return name
}

// calls are items of helmfiles.
func (g *generator) calls(dir string, depth int) string {
	sub := g.name("sub")
	file := sub + "/helmfile.yaml"
	nested := dir + sub + "/"
	g.files[nested+"chart/Chart.yaml"] = g.files[chartOf(g)+"Chart.yaml"]
	g.files[nested+"chart/templates/values.yaml"] = g.files[chartOf(g)+"templates/values.yaml"]
	g.state(nested+"helmfile.yaml", nested, depth+1)
	switch g.IntN(4) {
	case 0:
		return "  - " + file + "\n"
	case 1:
		return "  - path: " + sub + "/helm*.yaml\n    values:\n" + g.stateValues(dir, 6)
	case 2:
		return "  - path: " + file + "\n    selectors: [" + pick(g, "tier=base", "name!=r1", "kind=db", "'tier=base,kind!=db'") + "]\n"
	}
	return "  - path: " + file + "\n    inherits: [" + pick(g, "environments", "templates, repositories", "commonLabels, helmDefaults", "environments, templates, commonLabels") + "]\n"
}

func chartOf(g *generator) string {
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		if dir, ok := strings.CutSuffix(name, "Chart.yaml"); ok {
			return dir
		}
	}
	return ""
}

// templates are release templates, t0 and t1.
func (g *generator) templates(dir string) string {
	var b strings.Builder
	for i := range 2 {
		b.WriteString("  t" + strconv.Itoa(i) + ":\n")
		body := g.body(dir)
		if i == 1 && g.maybe(3) {
			body += "inherit: [{template: t0" + g.except() + "}]\n"
		} else if g.maybe(30) {
			body += "inherit: [{template: t1}]\n"
		}
		if body == "" {
			body = "labels: {}\n"
		}
		b.WriteString("    " + strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\n    ") + "\n")
	}
	return b.String()
}

func (g *generator) except() string {
	if g.maybe(3) {
		return ", except: [" + pick(g, "values", "labels", "set", "valuesTemplate, labels", "setTemplate", "secrets") + "]"
	}
	return ""
}

// release is one release.
func (g *generator) release(dir string) string {
	name := g.name("r")
	b := "name: " + pick(g, name, name, name, `"`+name+`"`, `'{{ "`+name+`" }}'`) + "\n"
	b += g.chart(dir)
	if !g.maybe(4) {
		b += "namespace: " + pick(g, "kube-system", "default", `"a"`) + "\n"
	}
	b += g.body(dir)
	if g.maybe(3) && !strings.Contains(b, "inherit:") {
		b += pick(g, "inherit: [{template: t0"+g.except()+"}]\n", "inherit:\n  - template: t1\n"+"  - template: t0\n", "inherit: {template: t1}\n")
	}
	if g.maybe(6) {
		b += "needs: [" + pick(g, "other/app", "app", "'{{ .Release.Namespace }}/x'") + "]\n"
	}
	return b
}

func (g *generator) chart(dir string) string {
	if g.local {
		return "chart: ./chart\n"
	}
	return "chart: " + pick(g, "./chart", "./chart", "repo/app", "oci://ghcr.io/charts/app",
		`'{{ readFile "`+g.git(dir)+`" | fromYaml | get "spec.url" }}'`) + "\n"
}

// git is the path of the Git side from a helmfile's folder.
func (g *generator) git(dir string) string {
	return strings.Repeat("../", strings.Count(dir, "/")) + "git/hr.yaml"
}

// body are the fields that releases and templates have in common.
func (g *generator) body(dir string) string {
	var b strings.Builder
	if g.maybe(2) {
		versions := []string{"1.2.3", "v1.0.0", "1.34", `"2"`, "1.0.0-rc.1", "~1.2", `'{{ readFile "` + g.git(dir) + `" | fromYaml | get "spec.ref.tag" }}'`,
			`'{{ (readFile "` + g.git(dir) + `" | fromYaml).spec.chart.spec.version }}'`, `'{{ .Values | get "version" "9.9.9" }}'`, `"{{ .Release.Labels | get \"v\" \"1.1.1\" }}"`}
		b.WriteString("version: " + pick(g, versions...) + "\n")
	}
	if g.maybe(3) {
		b.WriteString("labels: {" + pick(g, "kind: db", `v: "4.5.6"`, `own: '{{ .Release.Name }}-{{ .Release.Namespace }}'`, "tier: base") + "}\n")
	}
	if !g.maybe(3) {
		b.WriteString("values:\n")
		for range 1 + g.IntN(3) {
			b.WriteString("  - " + g.entry(dir) + "\n")
		}
	}
	if g.maybe(4) {
		b.WriteString("valuesTemplate:\n  - name: '{{ .Release.Name }}'\n    n: " + pick(g, "'{{ add 1 2 }}'", `"{{ .Values | getOrNil \"app.n\" }}"`, "1.50") + "\n")
	}
	b.WriteString(g.sets())
	if g.maybe(8) {
		b.WriteString("installed: " + pick(g, "true", "false") + "\n")
	} else if g.maybe(10) {
		b.WriteString("installedTemplate: '" + pick(g, `{{ eq .Release.Name "r1" }}`, "{{ true }}") + "'\n")
	}
	if g.maybe(10) {
		b.WriteString("condition: " + pick(g, "app.enabled", "app.enabled", `"true"`, "app", "none.enabled") + "\n")
	}
	if g.maybe(12) {
		b.WriteString("missingFileHandler: " + pick(g, "Warn", "Error") + "\n")
	}
	if g.maybe(8) {
		b.WriteString("hooks: [{events: [presync], command: echo, args: [\"{{ .Release.Name }}\"]}]\n")
	}
	return b.String()
}

func (g *generator) sets() string {
	var b strings.Builder
	values := []string{"{name: a.b, value: x}", "{name: 'list[1]', value: '3'}", "{name: n, value: '5'}", `{name: c\.d, value: "yes"}`,
		"{name: l, values: [a, 2, 'b,c']}", "{name: s, value: 'a,b{c}=d'}", "{name: on, value: 'true'}", "{name: gone, value: 'null'}"}
	for _, field := range []string{"set", "setString"} {
		if g.maybe(6) {
			b.WriteString(field + ": [" + pick(g, values...) + ", " + pick(g, values...) + "]\n")
		}
	}
	if g.maybe(10) {
		b.WriteString("setTemplate: [{name: 'x.{{ .Release.Name }}', value: '{{ .Release.Namespace }}'}]\n")
	}
	return b.String()
}

// entry is an item of values: a map, a file, or a template.
func (g *generator) entry(dir string) string {
	switch g.IntN(6) {
	case 0:
		name := g.name("values") + ".yaml"
		g.files[dir+name] = g.values(4, 0)
		return name
	case 1, 2:
		sub := pick(g, "", "templates/")
		name := sub + g.name("values") + ".yaml.gotmpl"
		g.files[dir+name] = g.template(dir + sub)
		return name
	case 3:
		if g.maybe(6) {
			return "nowhere/{{ .Release.Name }}.yaml"
		}
		name := g.name("v")
		g.files[dir+"per/"+name+".yaml"] = g.values(3, 0)
		return `'per/{{ "` + name + `" }}.yaml'`
	}
	return strings.ReplaceAll(strings.TrimSuffix(g.values(3, 0), "\n"), "\n", "\n    ")
}

// template is a values template.
func (g *generator) template(dir string) string {
	hr := strings.Repeat("../", strings.Count(dir, "/")) + "git/hr.yaml"
	lines := []string{
		`{{ readFile "` + hr + `" | fromYaml | get "spec.values" (dict) | toYaml }}`,
		`{{ (readFile "` + hr + `" | fromYaml).spec.values | toYaml }}`,
		"all:\n{{ readFile \"" + hr + "\" | fromYaml | get \"spec.values\" | toYaml | indent 2 }}",
		"all: {{ readFile \"" + hr + "\" | fromYaml | get \"spec.values\" | toJson }}",
		`{{ range $i, $x := list "a" "b" }}` + "\nk{{ $x }}: {{ $i }}\n{{ end }}",
		`{{- if eq .Release.Namespace "kube-system" }}` + "\nsystem: true\n{{- else }}\nsystem: false\n{{- end }}",
		`name: {{ .Release.Name | upper | quote }}`,
		`labels: {{ .Release.Labels | toJson }}`,
		`chart: {{ .Release.Chart }}` + "\nversion: {{ .Release.ChartVersion | quote }}",
		`env: {{ .Environment.Name }}` + "\nvalues: {{ .Values | toJson }}",
		"state: {{ .StateValues | get \"name\" \"none\" }}",
		"has: {{ isFile \"" + hr + "\" }}\nnot: {{ isFile \"nope\" }}\ndir: {{ isDir \"" + path.Dir(hr) + "\" }}",
		`t: {{ tpl "{{ .A }}-{{ .B }}" (dict "A" 1 "B" "x") }}`,
		`n1: {{ add 1 (mul 2 3) }}` + "\nt: {{ ternary \"a\" \"b\" true }}\nd: {{ default \"x\" \"\" }}",
		`x: {{ "a,b" | splitList "," | join "-" }}` + "\nt: {{ trimSuffix \"b\" \"aab\" }}\nz: {{ regexReplaceAll \"a+\" \"aaab\" \"c\" }}",
		`m: {{ merge (dict "a" 1) (dict "a" 2 "b" 3) | toJson }}` + "\ns: {{ \"abc\" | sha256sum | trunc 8 }}",
		`o: {{ .Values | getOrNil "app.n" | default 7 }}` + "\nr: {{ required \"no\" \"yes\" }}",
		`{{ $d := dict "a" (list 1 2) }}{{ $_ := set $d "b" "c" }}` + "\nd: {{ $d | toJson }}\ndig: {{ dig \"a\" \"b\" \"no\" (dict \"a\" (dict \"b\" \"yes\")) }}",
		`v: {{ .Values.version }}`,
		`broken: {{ get "no.key" (dict) }}`,
		`{{/* nothing */}}`,
		`w: {{ range readDir "` + path.Dir(hr) + `" }}{{ base . }} {{ end }}`,
		`i: {{ include "helper" .Release }}`,
		"sv: {{ setValueAtPath \"a.b\" 5 (dict \"a\" (dict)) | toJson }}",
		"b: {{ \"x\" | b64enc }}\nf: {{ printf \"%05.2f\" 3.14159 }}\nq: {{ list 3 1 2 | sortAlpha | toJson }}",
	}
	var b strings.Builder
	seen := map[string]bool{}
	for range 1 + g.IntN(3) {
		line := lines[g.IntN(len(lines))]
		if g.maybe(3) && strings.Contains(line, "broken") || strings.Contains(line, ".Values.version") && !g.maybe(3) {
			continue
		}
		if strings.Contains(line, "include") {
			g.files[dir+"_helpers.tpl"] = `{{ define "helper" }}<{{ .Name }}>{{ end }}`
		}
		if !seen[line] && (len(seen) == 0 || !strings.HasPrefix(line, "{{ readFile") && !strings.HasPrefix(line, "{{ (readFile")) {
			b.WriteString(line + "\n")
		}
		seen[line] = true
	}
	return b.String()
}

// values are fields of a map, n at most, indented.
func (g *generator) values(n, indent int) string {
	pad := strings.Repeat(" ", indent)
	scalars := []string{"1", "-5", "1.5", "1.0", "true", "false", "yes", "off", "null", "~", `"1"`, "'yes'", "text", "two words", `""`,
		"0o17", "017", "0x1f", "1e3", "1_000", ".5", "12345678901", "123456789012345678901234567890", "2024-01-02", "2024-01-02T03:04:05Z", "12:30:45", "[]", "{}", "[1, a, null]",
		"{x: 1, y: [true]}", `"${VAR}"`, "${VAR}", "a: b", "'#x'", "x#y", "!!str 5", "|\n" + pad + "  line\n" + pad + "  two", ">-\n" + pad + "  folded\n" + pad + "  text",
		"\n" + pad + "  - one\n" + pad + "  - {k: v}", "\n" + pad + "  deep:\n" + pad + "    er: 1", "ref", "é€", `"tab\there"`, "-0", "+1", "n", "N", "y", "NULL", "TRUE", "0.1e-5", "<<", "="}
	keys := []string{"a", "b", "c", "d", "x-y", `"a.b"`, "s", "nested"}
	if g.maybe(4) {
		keys = append(keys, "on")
	}
	if g.maybe(40) {
		keys = append(keys, "1", "true")
	}
	var b strings.Builder
	used := map[string]bool{}
	for range 1 + g.IntN(n) {
		k := pick(g, keys...)
		v := pick(g, scalars...)
		if used[k] || v == "a: b" {
			continue
		}
		used[k] = true
		b.WriteString(pad + k + ": " + v + "\n")
	}
	return b.String()
}

// FuzzHelmfile reads any helmfile, as YAML and as a template: without a crash, and
// twice to the same.
func FuzzHelmfile(f *testing.F) {
	for seed := range uint64(30) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), files: map[string]string{}}
		f.Add(g.files[g.helmfile()], seed%2 == 0)
	}
	f.Add(`{{ exec "rm" (list "-rf" ".") }}releases: [{name: a, chart: '{{ exec "yq" (list ".a // {}" "git/hr.yaml") }}'}]`, true)
	f.Fuzz(func(t *testing.T, text string, template bool) {
		name := "helmfile.yaml"
		if template {
			name += ".gotmpl"
		}
		read := func() string {
			repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
				_ = yield("git/hr.yaml", []byte("spec: {values: {a: 1}}\n")) && yield("values.yaml", []byte("a: 1\n")) &&
					yield("base.yaml", []byte("templates: {t: {version: 1.0.0}}\n")) && yield(name, []byte(text))
			}, repository.Options{})
			if err != nil {
				return err.Error()
			}
			r := newReader(t.Context(), repo)
			r.LimitCalls(200)
			all, err := r.all([]string{name})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			var out strings.Builder
			for _, file := range slices.Sorted(maps.Keys(all)) {
				for _, each := range all[file] {
					fmt.Fprintln(&out, each.Place, each.Unreadable, each.listed(), each.Refusals)
					if each.Unreadable == "" {
						fmt.Fprintln(&out, each.effective())
					}
				}
			}
			return out.String()
		}
		if first, second := read(), read(); first != second {
			t.Errorf("%q reads\n%s\nthen\n%s", text, first, second)
		}
	})
}
