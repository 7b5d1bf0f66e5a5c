package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

// memory is a repository of files.
type memory map[string]string

func (m memory) ReadFile(p string) ([]byte, error) {
	data, ok := m[p]
	if !ok {
		return nil, fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	}
	return []byte(data), nil
}
func (m memory) Exists(p string) bool { _, ok := m[p]; return ok }
func (m memory) Paths() []string      { return slices.Sorted(maps.Keys(m)) }

func TestRender(t *testing.T) {
	repo := memory{
		"a/hr.yaml":      "spec:\n  values:\n    n: 1\n    on: \"yes\"\n---\nsecond: true\n",
		"b/_helpers.tpl": `{{ define "name" }}<{{ . }}>{{ end }}`,
	}
	for _, test := range []struct{ name, text, want string }{
		{"path of the folder", `{{ readFile "../a/hr.yaml" | fromYaml | get "spec.values" | toYaml }}`, "\"n\": 1\n\"on\": \"yes\"\n"},
		{"index and len", `{{ index (dict "a" (list 1 2)) "a" 1 }} {{ len (list 1 2 3) }} {{ len "ab" }}`, "2 3 2"},
		{"order", `{{ lt 1 2 }} {{ ge "b" "a" }} {{ ne 1 1 }} {{ eq "a" "b" "a" }} {{ gt 1.5 1.0 }}`, "true true false true true"},
		{"field", `{{ (readFile "../a/hr.yaml" | fromYaml).spec.values.n }}`, "1"},
		{"default of get", `{{ readFile "../a/hr.yaml" | fromYaml | get "spec.no" (dict) | toYaml }}`, "{}\n"},
		{"getOrNil", `{{ (getOrNil "a.b" (dict "a" 1)) | default "x" }}`, "x"},
		{"sprig", `{{ "abc" | upper | repeat 2 | trunc 4 | quote }}`, `"ABCA"`},
		{"dig", `{{ dig "a" "b" "no" (dict "a" (dict "b" "yes")) }}`, "yes"},
		{"include of a helper", `{{ include "name" "x" | indent 2 }}`, "  <x>"},
		{"tpl", `{{ tpl "{{ .A }}!" (dict "A" 1) }}`, "1!"},
		{"comparison", `{{ if and (eq 1 1) (not false) }}yes{{ else }}no{{ end }}`, "yes"},
		{"range", `{{ range $i, $x := list "a" "b" }}{{ $i }}{{ $x }}{{ end }}`, "0a1b"},
		{"range over a number", `{{ range 3 }}{{ . }}{{ end }}`, "012"},
		{"isFile", `{{ isFile "../a/hr.yaml" }} {{ isFile "no" }} {{ isDir "../a" }}`, "true false true"},
		{"map in itself", `{{ $d := dict "k" 1 }}{{ $_ := set $d "a" $d }}{{ $d }}`, "map[a:map[k:1] k:1]"},
		{"maps in each other", `{{ $d := dict }}{{ $e := dict "d" $d }}{{ $_ := set $d "e" $e }}{{ toJson $d }}`, `{"e":{"d":{}}}`},
		{"printf of a script", `{{ printf "if [[ -f %q ]]; then n=${#a[@]}; fi; printf '%%s %%s %%s %%s %%s %%s' x" "f" }}`,
			`if [[ -f "f" ]]; then n=${#a[@]}; fi; printf '%s %s %s %s %s %s' x`},
		{"readDir", `{{ range readDir "../a" }}{{ . }} {{ end }}`, "../a/hr.yaml "},
	} {
		got, err := New(t.Context(), repo).Render("b", test.text, nil)
		if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v; want %q", test.name, got, err, test.want)
		}
	}
}

func TestRenderMarks(t *testing.T) {
	for _, test := range []struct{ text, reason, missing string }{
		{`{{ requiredEnv "DOMAIN" }}`, `requiredEnv "DOMAIN"`, ""},
		{`{{ env "DOMAIN" | default "x" | upper }}`, `env "DOMAIN"`, ""},
		{`{{ exec "sh" (list "-c" "touch x; rm y") }}`, `exec "sh"`, ""},
		{`{{ readFile "../../../../etc/passwd" }}`, "outside of the repository", ""},
		{`{{ readFile "/etc/passwd" | fromYaml | toYaml }}`, "not in the repository", ""},
		{`{{ readFile "no.yaml" | fromYaml | get "a.b" }}`, "b/no.yaml does not exist", "b/no.yaml"},
		{`{{ dict "a" (env "X") | toYaml }}`, `env "X"`, ""},
		{`{{ now }}`, "calls now", ""},
		{`{{ genPrivateKey "rsa" }}`, "calls genPrivateKey", ""},
		{`{{ getHostByName "example.com" }}`, "calls getHostByName", ""},
		{`{{ list "a" (env "X") | join "," }}`, `env "X"`, ""},
		{`{{ not (env "X") }}`, `env "X"`, ""},
		{`{{ fetchSecretValue "ref+vault://x" }}`, "calls fetchSecretValue", ""},
		{`{{ "ref+vault://x" | expandSecretRefs }}`, "calls expandSecretRefs", ""},
		{`{{ envExec (dict "A" "b") "sh" (list "-c" "rm x") }}`, "calls envExec", ""},
		{`{{ readDirEntries "." }}`, "calls readDirEntries", ""},
		{`{{ eq "a" (env "X") }}`, `env "X"`, ""},
	} {
		e := New(t.Context(), memory{})
		got, err := e.Render("b", test.text, nil)
		m, bad := e.Marked(got)
		if err != nil || !bad || !strings.Contains(m.Reason, test.reason) || m.Missing != test.missing {
			t.Errorf("%s: got %q (%+v), %v", test.text, got, m, err)
		}
	}
	_, err := New(t.Context(), memory{}).Render(".", `{{ if env "X" }}a{{ end }}`, nil)
	if err == nil || !strings.Contains(err.Error(), `env "X"`) {
		t.Errorf("a condition on the environment: %v", err)
	}
}

// TestRenderHostile holds templates that are refused for what can be counted: what they take is
// measured where the command runs.
func TestRenderHostile(t *testing.T) {
	double := strings.Repeat(`{{ $x = printf "%s%s" $x $x }}`, 64)
	for name, text := range map[string]string{
		"repeat":               `{{ repeat 2000000000 "abc" }}`,
		"repeat of nothing":    `{{ repeat 9223372036854775807 "abc" }}`,
		"until":                `{{ until 2000000000 }}`,
		"untilStep":            `{{ untilStep 0 9000000000000000000 1 }}`,
		"untilStep that wraps": `{{ untilStep 9000000000000000000 9223372036854775807 5000000000000000000 }}`,
		"wrapWith":             `{{ wrapWith 1 (repeat 100000 "b") (repeat 100000 "a") }}`,
		"indent":               `{{ indent 2000000000 "a" }}`,
		"nindent of lines":     `{{ nindent 1000 (repeat 100000 "\n") }}`,
		"join":                 `{{ $x := repeat 1000000 "a" }}{{ join "," (list $x $x $x $x $x $x $x $x $x) }}`,
		"join with long text":  `{{ join (repeat 8000000 "a") (list "a" "b") }}`,
		"doubling lists":       `{{ $x := list 1 }}` + strings.Repeat(`{{ $x = list $x $x }}`, 64) + `{{ toYaml $x }}`,
		"doubling":             `{{ $x := "aaaaaaaa" }}` + double,
		"doubling marks":       `{{ $x := list (env "A") }}` + strings.Repeat(`{{ $x = list $x $x }}`, 64) + `{{ ternary $x $x (env "A") }}`,
		"lists in each other":  `{{ $x := list 1 }}{{ range 1000 }}{{ $x = list $x }}{{ end }}`,
		"uniq":                 `{{ until 5000 | uniq }}`,
		"without":              `{{ without (until 5000) 1 }}`,
		"the largest loop":     `{{ range 9223372036854775807 }}{{ end }}`,
		"template recursion":   `{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`,
		"mutual recursion":     `{{ define "a" }}{{ template "b" }}{{ end }}{{ define "b" }}{{ template "a" }}{{ end }}{{ template "a" }}`,
		"include recursion":    `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
		"tpl recursion":        `{{ define "a" }}{{ tpl "{{ include \"a\" . }}" . }}{{ end }}{{ include "a" . }}`,
		"tpl of itself":        `{{ tpl .T . }}`,
		"output":               `{{ range 10000000 }}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{{ end }}`,
		"deep nesting":         strings.Repeat(`{{ if true }}`, 100_000) + strings.Repeat(`{{ end }}`, 100_000),
		"replace":              `{{ $x := repeat 1000000 "a" }}{{ replace "a" $x $x }}`,
		"alias bomb":           `{{ fromYaml "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]" }}`,
		"function as a value":  `{{ call .T }}{{ fail "x" }}`,
	} {
		t.Run(name, func(t *testing.T) {
			out, err := New(t.Context(), memory{}).Render(".", text, map[string]any{"T": `{{ tpl .T . }}`})
			if err == nil {
				t.Errorf("it renders %d bytes", len(out))
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	f.Add(`{{ readFile "a" | fromYaml | get "spec.values" (dict) | toYaml }}`)
	f.Add(`{{ define "a" }}{{ include "a" . }}{{ end }}{{ range 10 }}{{ include "a" . }}{{ end }}`)
	f.Add(`{{ $d := dict "a" (list 1 2) }}{{ set $d "b" $d }}{{ printf "%s%9d" $d 1 }}`)
	f.Add(`{{ $d := dict "a" 1 }}{{ printf "%%p %-7p" $d }}`)
	f.Fuzz(func(t *testing.T, text string) {
		render := func() (string, error) {
			e := New(t.Context(), memory{"a": "spec: {values: {x: 1}}"})
			return e.Render(".", text, map[string]any{})
		}
		first, err := render()
		if err != nil {
			return
		}
		if second, err := render(); err != nil || first != second {
			t.Errorf("%q renders %q, then %q, %v", text, first, second, err)
		}
	})
}

// TestSteps: what a template repeats is counted over loops, loops in each other and includes.
func TestSteps(t *testing.T) {
	for text, exceeds := range map[string]bool{
		`{{ range 990000 }}{{ end }}`:                                    false,
		`{{ range 1000001 }}{{ end }}`:                                   true,
		`{{ range 1000 }}{{ range 990 }}{{ end }}{{ end }}`:              false,
		`{{ range 1000 }}{{ range 1000 }}{{ end }}{{ end }}`:             true,
		`{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}`: true,
		`{{ range -1 }}{{ end }}{{ range dict "a" 1 }}{{ end }}`:         false,
		`{{ define "a" }}{{ if lt (len .) 45 }}{{ include "a" (printf "%sx" .) }}{{ include "a" (printf "%sx" .) }}{{ end }}{{ end }}{{ include "a" "x" }}`: true,
	} {
		_, err := New(t.Context(), memory{}).Render("a", text, nil)
		if errors.Is(err, errRepeated) != exceeds {
			t.Errorf("%s: %v", text, err)
		}
	}
}
