package charts

import (
	"regexp"
	"strings"
	"testing"
)

// wholeStep matches the step at the beginning of a text.
var wholeStep = regexp.MustCompile(`^\{\{ fleetwright_step \d+ \}\}`)

// TestBound: the result of each include and tpl is checked, and each text that tpl runs, where the call ends.
func TestBound(t *testing.T) {
	for text, want := range map[string]string{
		`a: {{ .Values.a }}`:                         `a: {{ .Values.a }}`,
		`{{ include "a" . }}`:                        `{{ include "a" . | fleetwright_result }}`,
		`{{- include "a" . -}}`:                      `{{- include "a" . | fleetwright_result -}}`,
		`{{include "a" .}}`:                          `{{include "a" . | fleetwright_result}}`,
		"{{\n- include \"a\" .\n-}}":                 "{{\n- include \"a\" . | fleetwright_result\n-}}",
		`{{ include "a" . | nindent 2 }}`:            `{{ include "a" . | fleetwright_result | nindent 2 }}`,
		`{{ . | include "a" | quote }}`:              `{{ . | include "a" | fleetwright_result | quote }}`,
		`{{ $x := include "a" (include "b" $) }}`:    `{{ $x := include "a" (include "b" $ | fleetwright_result) | fleetwright_result }}`,
		`{{ if eq (include "a" .) "include | )" }}`:  `{{ if eq (include "a" . | fleetwright_result) "include | )" }}`,
		`{{ else if include "a" . }}`:                `{{ else if include "a" . | fleetwright_result }}`,
		`{{ (include "a" .) | len }}`:                `{{ (include "a" . | fleetwright_result) | len }}`,
		`{{ tpl .Values.x . }}`:                      `{{ tpl (fleetwright_text .Values.x) . | fleetwright_result }}`,
		`{{ tpl (toYaml .Values.x | trim) $ }}`:      `{{ tpl (fleetwright_text (toYaml .Values.x | trim)) $ | fleetwright_result }}`,
		`{{ tpl (include "a" .) . }}`:                `{{ tpl (fleetwright_text (include "a" . | fleetwright_result)) . | fleetwright_result }}`,
		`{{ tpl (.Files.Get "x").y . }}`:             `{{ tpl (fleetwright_text (.Files.Get "x").y) . | fleetwright_result }}`,
		"{{ tpl `{{ include \"a\" . }}` . }}":        "{{ tpl (fleetwright_text `{{ include \"a\" . }}`) . | fleetwright_result }}",
		`{{ $ | tpl "x" }}`:                          `{{ $ | tpl (fleetwright_text "x") | fleetwright_result }}`,
		`{{ $ | tpl "x"}}`:                           `{{ $ | tpl (fleetwright_text "x") | fleetwright_result}}`,
		`{{ .include }} {{ $tpl }} {{ $x.tpl.y }}`:   `{{ .include }} {{ $tpl }} {{ $x.tpl.y }}`,
		`{{ .Values.tpl.include | includes "tpl" }}`: `{{ .Values.tpl.include | includes "tpl" }}`,
		`{{ template "include" . }}`:                 `{{ template "include" . }}`,
		`{{/* include "a" . */}}{{ "{{ tpl }}" }}`:   `{{/* include "a" . */}}{{ "{{ tpl }}" }}`,
		"{{-\n/* include \"a\" . */ -}}":             "{{-\n/* include \"a\" . */ -}}",
		`{{/*/ {{ */}}{{ include "a" . }}`:           `{{/*/ {{ */}}{{ include "a" . | fleetwright_result }}`,
		`{{ éinclude (include "a" .) }}`:             `{{ éinclude (include "a" . | fleetwright_result) }}`,
		`{{ include "a`:                              `{{ include "a`,
	} {
		got, err := (&execution{}).bound(text)
		got = wholeStep.ReplaceAllString(got, "")
		if got = strings.ReplaceAll(got, " | "+printedFunction, ""); err != nil || got != want {
			t.Errorf("%s gives\n%s, %v, not\n%s", text, got, err, want)
		}
	}
}

// TestBoundParts: what a template prints is counted, and each part of it that may run repeatedly.
func TestBoundParts(t *testing.T) {
	for text, want := range map[string]string{
		`{{ .Values.a }}`:                    `{{ .Values.a | fleetwright_printed }}`,
		`{{- "a" -}}`:                        `{{- "a" | fleetwright_printed -}}`,
		`{{$x}}{{ $x.y = 1 }}`:               `{{$x | fleetwright_printed}}{{ $x.y = 1 | fleetwright_printed }}`, // the latter doesn't parse
		`{{ $x := 1 }}{{$x:=2}}{{ $x = 3 }}`: `{{ $x := 1 }}{{$x:=2}}{{ $x = 3 }}`,
		`{{ .a | }}{{ .a | -}}`:              `{{ .a | fleetwright_printed | }}{{ .a | fleetwright_printed | -}}`,
		`{{ }}{{- -}}`:                       `{{ }}{{- -}}`,
		`{{ if .a }}b{{ else if .c }}{{ end }}{{ with .a }}b{{ end }}`: `{{ if .a }}b{{ else if .c }}{{ end }}{{ with .a }}b{{ end }}`,
		`{{ range .a }}{{ break }}{{ end }}`:                           `{{ range .a }}{{ fleetwright_step 11 }}{{ break }}{{ end }}`,
		"{{ range $k, $v := .a -}}\n b{{- else }}c{{ end -}} d":        "{{ range $k, $v := .a -}}{{ fleetwright_step 15 -}}\n b{{- else }}c{{ end -}} d",
		`{{ range .a }}{{ range . }}b{{ end }}{{ end }}`:               `{{ range .a }}{{ fleetwright_step 23 }}{{ range . }}{{ fleetwright_step 1 }}b{{ end }}{{ end }}`,
		`{{ range .a }}{{ if . }}b{{ end }}{{- end }}`:                 `{{ range .a }}{{ fleetwright_step 20 }}{{ if . }}b{{ end }}{{- end }}`,
		`{{ define "a" }}b{{ end }}{{ template "a" . }}`:               `{{ define "a" }}{{ fleetwright_step 1 }}b{{ end }}{{ template "a" . }}`,
		`{{ block "a" . }}{{ if . }}{{ end }}{{ end }}`:                `{{ block "a" . }}{{ fleetwright_step 19 }}{{ if . }}{{ end }}{{ end }}`,
		"{{ define \"a\" }}\n{{- /* b */ -}} \n{{ end }}":              "{{ define \"a\" }}\n{{- /* b */ -}} \n{{ end }}",
		`{{ define "a" }}`: `{{ define "a" }}`,
		`{{ end }}`:        `{{ end }}`,
	} {
		whole, err := (&execution{}).bound(text)
		if got := wholeStep.ReplaceAllString(whole, ""); err != nil || got != want {
			t.Errorf("%s gives\n%s, %v, not\n%s", text, got, err, want)
		}
		if got := unbounded(whole); got != text {
			t.Errorf("without what was inserted, it is\n%s, not\n%s", got, text)
		}
	}
}
