package valueuse_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/valueuse"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func chartOf(t *testing.T, name, values string, templates map[string]string) *chart.Chart {
	t.Helper()
	c := &chart.Chart{Metadata: &chart.Metadata{Name: name, Version: "1.0.0"}, Values: decode(t, values)}
	for _, file := range slices.Sorted(maps.Keys(templates)) {
		c.Templates = append(c.Templates, &common.File{Name: "templates/" + file, Data: []byte(templates[file])})
	}
	return c
}

// TestUnread: what a template may read under any condition is not unread, and the rest is.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, template, helpers, defaults, values, want string }{
		{"fields", `{{ .Values.a }}{{ .Values.b.c }}`, "", "", "{a: 1, b: {c: 1, d: 2}, e: {f: 1}}", "b.d e"},
		{"a condition that is off", `{{ if .Values.active }}{{ toYaml .Values.a }}{{ end }}`, "", "", "{active: false, a: {b: 1}, c: 1}", "c"},
		{"with", `{{ with .Values.a }}{{ .b }}{{ end }}`, "", "{a: {b: 1}}", "{a: {b: 1, c: 2}}", "a.c"},
		{"with of what is empty", `{{ with .Values.a }}{{ .b }}{{ end }}`, "", "", "{a: {b: 1, c: 2}}", ""},
		{"range", `{{ range $k, $v := .Values.a }}{{ $v.b }}{{ end }}`, "", "{a: {z: {b: 1}}}", "{a: {x: {b: 1, c: 2}, w: {}}}", "a.x.c"},
		{"range of a list", `{{ range .Values.a }}{{ .b }}{{ end }}`, "", "", "{a: [{b: 1, c: 2}, 1]}", "a.0.c"},
		{"keys", `{{ range keys .Values.a }}{{ . }}{{ end }}`, "", "{a: {z: 1}}", "{a: {x: 1, w: {c: 1}}}", "a.w.c"},
		{"all", `{{ toYaml .Values }}`, "", "", "{a: 1}", ""},
		{"the root", `{{ toYaml . }}`, "", "", "{a: 1}", ""},
		{"dollar", `{{ range .Values.a }}{{ $.Values.b.c }}{{ end }}`, "", "", "{b: {c: 1, d: 1}}", "b.d"},
		{"variables", `{{ $x := .Values.a }}{{ if .Values.q }}{{ $x = .Values.b }}{{ end }}{{ $x.c }}`, "", "", "{a: {c: 1, d: 1}, b: {c: 1, d: 1}}", "a.d b.d"},
		{"include", `{{ include "x" . }}`, `{{ define "x" }}{{ .Values.a.b }}{{ end }}`, "", "{a: {b: 1, c: 1}}", "a.c"},
		{"include of a dict", `{{ include "x" (dict "ctx" $ "v" .Values.a) }}`, `{{ define "x" }}{{ .v.b }}{{ .ctx.Values.d }}{{ end }}`, "", "{a: {b: 1, c: 1}, d: 1, e: 1}", "a.c e"},
		{"include of what is not there", `{{ include "y" . }}`, "", "", "{a: 1}", ""},
		{"include by a made name", `{{ include (printf "%s.x" .Chart.Name) . }}`, `{{ define "t.x" }}{{ .Values.a }}{{ end }}`, "", "{a: 1, b: 1}", "b"},
		{"index", `{{ index .Values "a-b" "c" }}`, "", "", "{a-b: {c: 1, d: 1}}", "a-b.d"},
		{"index by a name that is not known", `{{ (index .Values .Release.Name).c }}`, "", "", "{a: {c: 1, d: 1}}", "a.d"},
		{"get, dig and hasKey", `{{ get .Values.a "b" }}{{ dig "x" "w" "no" .Values.a }}{{ if hasKey .Values "k" }}1{{ end }}`, "", "{a: {b: 1}}", "{a: {b: 1, x: {w: 1, z: 1}}, k: 1, l: 1}", "a.x.z l"},
		{"default", `{{ (default .Values.a .Values.b).c }}`, "", "{a: {c: 1}, b: {c: 1}}", "{a: {c: 1, d: 1}, b: {c: 1, d: 1}}", "a.d b.d"},
		{"merge", `{{ $x := mergeOverwrite (deepCopy .Values.a) .Values.b }}{{ $x.c }}`, "", "", "{a: {c: 1, d: 1}, b: {c: 1, d: 1}}", "a.d b.d"},
		{"merge into values", `{{ $_ := mergeOverwrite .Values.a .Values.b }}{{ .Values.a.c }}`, "", "", "{a: {c: 1, d: 1}, b: {c: 1, d: 1}}", "a.d b.d"},
		{"set", `{{ $_ := set .Values "a" .Values.b }}{{ .Values.a.c }}`, "", "", "{b: {c: 1, d: 1}}", "b.d"},
		{"set of all values", `{{ include "init" . }}{{ .Values.a.b }}`, `{{ define "init" }}{{ $_ := set . "Values" (mergeOverwrite (deepCopy .Values.common) (deepCopy (omit .Values "common"))) }}{{ end }}`, "", "{common: {a: {b: 1, c: 1}}, a: {b: 1, c: 1}}", "a.c common.a.c"},
		{"set in a dict", `{{ $d := dict }}{{ $_ := set $d "x" .Values.a }}{{ include "x" $d }}`, `{{ define "x" }}{{ .x.b }}{{ end }}`, "", "{a: {b: 1, c: 1}}", "a.c"},
		{"set by an include", `{{ $d := dict "r" $ }}{{ include "fill" $d }}{{ $e := dict "r" $ }}{{ include "fill" $e }}{{ $e.x.b }}`, `{{ define "fill" }}{{ $_ := set . "x" .r.Values.a }}{{ end }}`, "", "{a: {b: 1, c: 1}}", "a.c"},
		{"set in an inner dict", `{{ $d := dict "i" (dict) }}{{ $_ := set $d.i "x" .Values.a }}{{ $d.i.x.b }}`, "", "", "{a: {b: 1, c: 1}}", "a.c"},
		{"tpl of a value", `{{ tpl .Values.a . }}`, "", "", "{a: '{{ .Values.b.c }}', b: {c: 1}, d: 1}", "d"},
		{"tpl of a default", `{{ tpl .Values.a . }}`, "", "{a: '{{ .Values.b }}'}", "{b: 1, d: 1}", "d"},
		{"tpl of a known text", `{{ tpl "{{ .Values.b }}" . }}`, "", "", "{b: 1, d: 1}", "d"},
		{"a value that reads all", `{{ tpl .Values.a . }}`, "", "", "{a: '{{ toYaml .Values }}', d: 1}", ""},
		{"null", `{{ .Values.a }}`, "", "", "{b: null}", ""},
		{"fromYaml", `{{ $x := include "x" . | fromYaml }}{{ $x.b }}`, `{{ define "x" }}{{ toYaml .Values.a }}{{ end }}`, "", "{a: {b: 1, c: 1}, d: 1}", "d"},
		{"a list of contexts", `{{ range list .Values.a .Values.b }}{{ .c }}{{ end }}`, "", "", "{a: {c: 1, d: 1}, b: {c: 1, d: 1}}", "a.d b.d"},
		{"recursion", `{{ include "x" (dict "v" .Values.a) }}`, `{{ define "x" }}{{ .v.b }}{{ if .v.next }}{{ include "x" (dict "v" .v.next) }}{{ end }}{{ end }}`, "", "{a: {b: 1, next: {b: 1, c: 1}}}", ""},
		{"an unknown function", `{{ frobnicate .Values.a }}`, "", "", "{a: {b: 1}, c: 1}", "c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, ok := valueuse.Of(chartOf(t, "t", c.defaults, map[string]string{"a.yaml": c.template, "_h.tpl": c.helpers}))
			if !ok {
				if c.want != "" {
					t.Fatal("it is not followed")
				}
				return
			}
			if got := shown(r.Unread(decode(t, c.values))); got != c.want {
				t.Errorf("unread are %q, want %q", got, c.want)
			}
		})
	}
}

func shown(all [][]any) string {
	var texts []string
	for _, path := range all {
		var steps []string
		for _, step := range path {
			steps = append(steps, fmt.Sprint(step))
		}
		texts = append(texts, strings.Join(steps, "."))
	}
	return strings.Join(texts, " ")
}

// TestUnreadOfDependencies: values of a dependency are read by its templates, and global ones by all.
func TestUnreadOfDependencies(t *testing.T) {
	t.Parallel()
	child := chartOf(t, "child", "{x: 1}", map[string]string{"a.yaml": "{{ .Values.x }}{{ .Values.global.g }}{{ .Values.exports }}"})
	c := chartOf(t, "t", "", map[string]string{"a.yaml": "{{ .Values.own }}{{ .Subcharts.renamed.Values.s }}", "NOTES.txt": "{{ .Values.note }}"})
	c.Metadata.Dependencies = []*chart.Dependency{{Name: "child", Alias: "renamed", Condition: "renamed.enabled,other.active"}, {Name: "absent"}}
	c.AddDependency(child)
	r, ok := valueuse.Of(c)
	if !ok {
		t.Fatal("it is not followed")
	}
	values := decode(t, "{own: 1, note: 1, renamed: {enabled: true, x: 1, z: 1, s: 1}, other: {active: true, idle: 1}, absent: {a: 1}, child: {x: 1}, tags: {a: true}, global: {g: 1}}")
	if got := shown(r.Unread(values)); got != "child other.idle renamed.z" {
		t.Errorf("unread are %q", got)
	}
	if known := r.Known([]any{"renamed", "z"}); !slices.Contains(known, "x") || !slices.Contains(known, "enabled") {
		t.Errorf("beside it are %q", known)
	}
}

// TestHostile: what is too much to follow is not decided, soon.
func TestHostile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, `{{ define "x%d" }}{{ include "x%d" (dict "a" . "b" .) }}{{ include "x%[2]d" (dict "a" . "c" .Values.x%[1]d) }}{{ end }}`, i, i+1)
	}
	b.WriteString(`{{ define "x60" }}{{ .a }}{{ end }}`)
	if r, ok := valueuse.Of(chartOf(t, "t", "", map[string]string{"a.yaml": `{{ include "x0" . }}`, "_h.tpl": b.String()})); ok && len(r.Unread(map[string]any{"x1": 1})) > 0 {
		t.Error("a value that is read is unread")
	}
}
