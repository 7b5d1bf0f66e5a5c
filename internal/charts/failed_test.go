package charts

import (
	"errors"
	"strings"
	"testing"
)

// TestFailures: why a template fails is told with the line of the template that was run and with the
// message of the innermost one, and a chart's own refusals are told apart.
func TestFailures(t *testing.T) {
	const shared = "{{ define \"a\" }}\n{{ .a.b.c }}{{ end }}\n{{ define \"f\" }}\n\n{{ fail \"no: good\" }}{{ end }}{{ define \"i\" }}{{ include \"a\" . }}{{ end }}"
	const at, chosen = "bomb/templates/x.yaml:", true
	for _, c := range []struct {
		text, want string
		chosen     bool
	}{
		{"a: b\n{{ .Values.a.b.c }}", at + "2: nil pointer evaluating interface {}.b", false},
		{"\n\n{{ include \"a\" . }}", at + "3: error calling include: nil pointer evaluating interface {}.b", false},
		{"\n\n{{ include \"i\" . }}", at + "3: error calling include: nil pointer evaluating interface {}.b", false},
		{"\n\n{{ template \"a\" . }}", "bomb/templates/_a.tpl:2: nil pointer evaluating interface {}.b", false},
		{`{{ fail "no: good" }}`, at + "1: no: good", chosen},
		{`{{ fail "template: x:1: no" }}`, at + "1: template: x:1: no", chosen},
		{`{{ fail "HELM_ERR_START no HELM_ERR_END" }}`, at + "1: HELM_ERR_START no HELM_ERR_END", chosen},
		{"\n{{ include \"f\" . }}", at + "2: no: good", chosen},
		{"\n{{ tpl \"{{ fail \\\"tp: x\\\" }}\" . }}", at + "2: tp: x", chosen},
		{"\n{{ tpl \"\\n{{ include \\\"f\\\" . }}\" . }}", at + "2: no: good", chosen},
		{`{{ required "a name" .Values.name }}`, at + "1: a name", chosen},
		{"{{ .Values.name | required \"a name\\nof two lines\" | quote }}", at + "1: a name\nof two lines", chosen},
		{`{{ env "HOME" }}`, at + `1: function "env" not defined`, false},
		{`{{ expandenv "$HOME" }}`, at + `1: function "expandenv" not defined`, false},
		{"\n\n{{ if nothing }}{{ end }}", at + `3: function "nothing" not defined`, false},
		{"a\n{{ if 1 }}", at + "2: unexpected EOF", false},
		{"a\n{{ if 1 ", at + "2: unclosed action", false},
		{"a\n{{ 0xz }}", at + `2: bad number syntax: "0xz"`, false},
		{"a\n{{ $a }}", at + `2: undefined variable "$a"`, false},
		{"a\n{{ $a\n}}", at + `3: undefined variable "$a"`, false},
		{"a\n{{ ( }}", at + "2: unclosed left paren", false},
		{"a\n{{ tpl\"x\" . }}", at + `2: bad character U+0022 '"'`, false},
		{"a\n{{ tpl \"a\\n{{ ( }}\" . }}", at + `2: error calling tpl: cannot parse the text "a" as a template: template: gotpl:2: unclosed left paren`, false},
		{"a\n{{ # }}", at + `2: unexpected "#" in command`, false},
		{"a\n{{ template \"none\" }}", at + `2: template "none" not defined`, false},
		{"a\n{{ include \"none\" . }}", at + `2: error calling include: no template "none" associated with template "gotpl"`, false},
		{"a\n{{ range 1.5 }}{{ end }}", at + "2: range can't iterate over 1.5", false},
		{"a\n{{ range .Values.text }}{{ end }}", at + "2: range can't iterate over a\nb", false},
		{"a\n{{ index (list 1) 5 }}", at + "2: error calling index: index out of range: 5", false},
		{"a\n{{ div 1 0 }}", at + "2: error calling div: runtime error: integer divide by zero", false},
		{"a\n{{ mustRegexMatch \"(\" \"a\" }}", at + "2: error calling mustRegexMatch: error parsing regexp: missing closing ): `(`", false},
		{"a\n{{ mustRegexMatch \"( <x>: y\" \"a\" }}", at + "2: error calling mustRegexMatch: error parsing regexp: missing closing ): `( <x>: y`", false},
		{"a\n{{ define \"e\" }}\n{{ mustRegexMatch \"(\" \"a\" }}{{ end }}{{ include \"e\" . }}",
			at + "3: error calling include: error calling mustRegexMatch: error parsing regexp: missing closing ): `(`", false},
		{"a\n{{ tpl \"{{ if\" . }}", at + `2: error calling tpl: cannot parse the text "{{ if" as a template: template: gotpl:1: unclosed action`, false},
		{"a\n{{ tpl \"{{ include \\\"a\\\" . }}{{ if\" . }}", at + `2: error calling tpl: cannot parse the text "{{ include \"a\" . }}{{ if" as a template: template: gotpl:1: unclosed action`, false},
		{"a\n{{ tpl (printf \"%s\\n{{ if\" (repeat 200 \"x\")) . }}",
			at + `2: error calling tpl: cannot parse the text "` + strings.Repeat("x", 100) + `…" as a template: template: gotpl:2: unclosed action`, false},
		{"a\n{{ tpl \"{{ .a.b.c }}\" . }}", at + "2: error calling tpl: nil pointer evaluating interface {}.b", false},
		{"a\n{{ tpl \"{{ include \\\"a\\\" . }}\" . }}", at + "2: error calling tpl: nil pointer evaluating interface {}.b", false},
		{"a\n{{ upper 1 2 }}", at + "2: wrong number of args for upper: want 1 got 2", false},
		{"a\n{{ upper 1 }}", at + "2: expected string; found 1", false},
		{"a\n{{ define \"r\" }}{{ include \"r\" . }}{{ end }}{{ include \"r\" . }}",
			at + "2: error calling include: error calling include: rendering template has a nested reference name: r: unable to execute template", false},
		{"a\n{{ eq (dict) (dict) }}", at + "2: error calling eq: non-comparable type map[]: map[string]interface {}", false},
		{"a: b: c", "bomb/templates/x.yaml: the rendered output is not YAML: MalformedYAMLError: yaml: mapping values are not allowed in this context", false},
		{"a\n{{ .Release.Name.x }}", at + "2: can't evaluate field x in type interface {}", false},
	} {
		chart, err := chartOf(t, map[string]string{"templates/x.yaml": c.text, "templates/_a.tpl": shared})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Render(t.Context(), request(chart, map[string]any{"text": "a\nb"}))
		var e *TemplateError
		if !errors.As(err, &e) || e.Error() != c.want || e.Chosen != c.chosen {
			t.Errorf("%s gives\n%v, want\n%s", c.text, err, c.want)
		}
	}
}

// chartOf loads a chart of some files.
func chartOf(t *testing.T, files map[string]string) (*Chart, error) {
	t.Helper()
	all := Files{"Chart.yaml": []byte("apiVersion: v2\nname: bomb\nversion: 1.0.0\n")}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return Load(all)
}
