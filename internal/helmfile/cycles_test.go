package helmfile

import (
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
