package helmfile

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestCycles puts maps into themselves, where a template fails and is read line by
// line afterwards, and where files of an environment share what they set.
func TestCycles(t *testing.T) {
	for name, a := range map[string]string{
		"salvaged":       "-- helmfile.yaml.gotmpl --\n{{ set .Values \"v\" .Values }}{{ fail \"x\" }}\nvalues:\n  - {{ .Values }}\nreleases:\n  - name: a\n    chart: ./c\n",
		"fallback":       "-- helmfile.yaml --\nenvironments: {default: {values: [a.yaml, b.yaml.gotmpl], mergeStrategy: fallback}}\n---\nreleases: [{name: a, chart: ./c}]\n-- a.yaml --\napp: {a: {b: 1}}\n-- b.yaml.gotmpl --\nx: {{ set .Values.app.a \"c\" .Values.app }}{{ set .Values \"x\" .Values }}\n",
		"merged":         "-- helmfile.yaml.gotmpl --\n{{ $a := dict \"n\" (dict) }}{{ $a := mergeOverwrite $a (dict \"n\" (dict \"x\" (list $a))) }}\nreleases:\n  - name: a\n    chart: ./c\n    values: [{x: '{{ $a }}'}]\n",
		"by path":        "-- helmfile.yaml.gotmpl --\n{{ $a := dict \"n\" (dict) }}{{ $a := setValueAtPath \"n.a\" $a $a }}\nreleases:\n  - name: a\n    chart: ./c\n    values: [{x: '{{ $a }}'}]\n",
		"within a value": "-- helmfile.yaml --\nreleases: [{name: a, chart: ./c, valuesTemplate: [{x: '{{ set .Values \"v\" .Values }}{{ .Values }}'}]}]\n",
	} {
		repo := testarchive.Repository(t, txtar.Parse([]byte(a)))
		r := newReader(t.Context(), repo)
		all, err := r.all(findHelmfiles(repo))
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d files, %v", name, len(all), err)
		}
	}
}

// TestOwnVariables: what a release reads for each value of a variable makes variants of that release, not of the others in its
// file.
func TestOwnVariables(t *testing.T) {
	a := "-- helmfile.yaml --\nreleases:\n  - name: a\n    chart: x/a\n    values: [{cluster: '{{ env \"CLUSTER\" }}'}]\n  - name: b\n    chart: x/b\n" +
		"    version: '{{ (readFile (printf \"clusters/%s/b.yaml\" (env \"CLUSTER\")) | fromYaml).version }}'\n-- clusters/one/b.yaml --\nversion: 1.0.0\n-- clusters/two/b.yaml --\nversion: 2.0.0\n"
	repo := testarchive.Repository(t, txtar.Parse([]byte(a)))
	all, err := newReader(t.Context(), repo).all(findHelmfiles(repo))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all["helmfile.yaml"] {
		if want := map[string]int{"a": 0, "b": 2}[r.Name.Value]; len(r.Variants) != want {
			t.Errorf("the release %s has %d variants, want %d", r.Name.Value, len(r.Variants), want)
		}
	}
}

// FuzzHelmfile reads any helmfile, as YAML and as a template: without a crash, and
// twice to the same.
func FuzzHelmfile(f *testing.F) {
	names, _ := filepath.Glob("testdata/helmfile/*.txtar")
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(a.Files[0].Data), false)
	}
	f.Add(`{{ exec "rm" (list "-rf" ".") }}releases: [{name: a, chart: '{{ exec "yq" (list ".a // {}" "git/hr.yaml") }}'}]`, true)
	f.Fuzz(func(t *testing.T, text string, template bool) {
		name := "helmfile.yaml"
		if template {
			name += ".gotmpl"
		}
		read := func() string {
			a := txtar.Archive{Files: []txtar.File{{Name: name, Data: []byte(text)}, {Name: "git/hr.yaml", Data: []byte("spec: {values: {a: 1}}\n")},
				{Name: "values.yaml", Data: []byte("a: 1\n")}, {Name: "base.yaml", Data: []byte("templates: {t: {version: 1.0.0}}\n")}}}
			r := newReader(t.Context(), testarchive.Repository(t, &a))
			all, err := r.all([]string{name})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			var out bytes.Buffer
			for _, file := range slices.Sorted(maps.Keys(all)) {
				for _, each := range all[file] {
					writeRelease(&out, each)
				}
			}
			return out.String()
		}
		if first, second := read(), read(); first != second {
			t.Errorf("%q reads\n%s\nthen\n%s", text, first, second)
		}
	})
}
