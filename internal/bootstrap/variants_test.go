package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestVariants evaluates bootstraps that depend on the environment: what is the same for each cluster that a
// variable in a path may name is certain, and what depends on a condition is unresolved.
func TestVariants(t *testing.T) {
	const git = `
-- hr.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: n}
spec: {chart: {spec: {chart: a, version: 1.0.0}}, values: {x: 1, z: 2}}
`
	release := func(version, values string) string {
		return "-- helmfile.yaml --\nreleases:\n  - name: a\n    namespace: n\n    chart: x/a\n    version: " + version +
			"\n    values: [values.zaml.gotmpl]\n-- values.zaml.gotmpl --\n" + values + git
	}
	for _, test := range []struct {
		name, archive string
		want          string // "verdict: fields; reason"
	}{
		{"a condition", release("1.0.0", `x: {{ if env "E" }}1{{ else }}3{{ end }}`+"\nz: 2\n"), `unresolved; a condition depends on an unknown value: the template reads the environment: env "E"`},
		{"a version by a condition", release(`'{{ eq (env "E") "p" | ternary "1.0.0" "1.0.1" }}'`, "x: 1\nz: 2\n"), `unresolved; env "E"`},
		{"drift beside a condition", release("1.0.1", `x: {{ if env "E" }}1{{ else }}3{{ end }}`+"\nz: 2\n"), "drift: version"},
		{"or", release("1.0.0", `x: {{ if or (env "E") true }}1{{ else }}3{{ end }}`+"\nz: 2\n"), `unresolved; env "E"`},
		{"and", release("1.0.0", `x: {{ if and (env "E") false }}3{{ else }}1{{ end }}`+"\nz: 2\n"), `unresolved; env "E"`},
		{"with", release("1.0.0", `{{ with env "E" }}{{ else }}{{ end }}`+"x: 1\nz: 2\n"), `unresolved; env "E"`},
		{"a key", release("1.0.0", `{{ env "E" }}x: 1`+"\nz: 2\n"), `unresolved; env "E"`},
		{"loop", release("1.0.0", `{{ range env "E" }}{{ end }}`+"x: 1\nz: 2\n"), `unresolved; env "E"`},
		{"condition of a file", "-- helmfile.yaml.gotmpl --\nreleases:\n  - name: a\n    namespace: n\n    chart: x/a\n    version: {{ if env \"E\" }}1.0.0{{ else }}1.0.1{{ end }}\n" + git, `unresolved; env "E"`},
		{"cluster's own", release("1.0.0", `{{ (readFile (printf "clusters/%s/hr.yaml" (env "CLUSTER")) | fromYaml).spec.values | toYaml }}`) +
			strings.Replace(git, "hr.yaml", "clusters/one/hr.yaml", 1) + strings.Replace(git, "hr.yaml", "clusters/two/hr.yaml", 1), "agrees"},
		{"one cluster's drifts", release("1.0.0", `{{ (readFile (printf "clusters/%s/hr.yaml" (env "CLUSTER")) | fromYaml).spec.values | toYaml }}`) +
			strings.Replace(git, "hr.yaml", "clusters/one/hr.yaml", 1) + strings.Replace(strings.Replace(git, "hr.yaml", "clusters/two/hr.yaml", 1), "1.0.0", "1.1.0", 1),
			"unresolved; CLUSTER=one: as clusters/one/hr.yaml:1; CLUSTER=two: drifts from clusters/two/hr.yaml:1"},
		{"a file of one cluster", release("1.0.0", `{{ $o := readFile (printf "clusters/%s/o.yaml" (env "CLUSTER")) }}{{ (readFile (printf "clusters/%s/hr.yaml" (env "CLUSTER")) | fromYaml).spec.values | toYaml }}`) +
			strings.Replace(git, "hr.yaml", "clusters/one/hr.yaml", 1) + "-- clusters/one/o.yaml --\n-- clusters/two/o.yaml --\n", "agrees"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(test.archive))), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := report.Releases[0]
			verdict, reason, _ := strings.Cut(test.want, "; ")
			got := string(r.Verdict)
			for _, d := range r.Differences {
				got += ": " + d.Field
			}
			if got != verdict || !strings.Contains(r.Reason, reason) {
				t.Errorf("got %s; %s", got, r.Reason)
			}
		})
	}
}

// TestRefusals tells what helmfile certainly stops at from what depends on the environment, and
// from what the verdicts on the releases tell.
func TestRefusals(t *testing.T) {
	release := "releases:\n  - name: a\n    namespace: n\n    chart: x/a\n"
	for _, test := range []struct {
		name, archive string
		stops         bool
	}{
		{"field", "-- helmfile.yaml --\n" + release + "    vales: []\n", true},
		{"missing key", "-- helmfile.yaml --\n" + release + "    version: '{{ .Values.a }}'\n", true},
		{"in flow style", "-- helmfile.yaml.gotmpl --\nreleases:\n  - {name: a, namespace: n, chart: x/a, version: '{{ .Values.a }}'}\n", true},
		{"no YAML", "-- helmfile.yaml --\n" + release + "    version: '{{ (readFile \"hr.yaml\" | fromYaml).spec }}'\n-- hr.yaml --\na: [\n", true},
		{"environment", "-- helmfile.yaml --\n" + release + "    version: '{{ requiredEnv \"E\" }}'\n", false},
		{"field of the environment", "-- helmfile.yaml --\n" + release + "    version: '{{ (env \"E\" | fromYaml).a.b }}'\n", false},
		{"number of the environment", "-- helmfile.yaml --\n" + release + "    version: '{{ repeat (env \"E\" | int) \"a\" }}'\n", false},
		{"stops under a condition", "-- helmfile.yaml --\n" + release + "    version: '{{ if env \"E\" }}{{ fail \"no\" }}{{ end }}'\n", false},
		{"encrypted values", "-- helmfile.yaml --\nenvironments: {default: {secrets: [s.yaml]}}\n---\n" + release + "    version: '{{ .Values.a }}'\n-- s.yaml --\n", false},
		{"missing file", "-- helmfile.yaml --\n" + release + "    version: '{{ readFile \"gone\" }}'\n" +
			"-- hr.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: n}\nspec: {chart: {spec: {chart: a}}}\n", false},
		{"missing base", "-- helmfile.yaml --\nbases: [gone.yaml]\n---\n" + release, true},
		{"base of the environment", "-- helmfile.yaml.gotmpl --\nbases: ['{{ env \"E\" }}.yaml']\n---\n" + release, false},
		{"template before helmfile 1", "-- helmfile.yaml --\n{{ if true }}\n" + release + "{{ end }}\n", false},
		{"duplicate", "-- helmfile.yaml --\n" + release + strings.TrimPrefix(release, "releases:\n"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(test.archive))), nil)
			if err != nil {
				t.Fatal(err)
			}
			stops := false
			for _, r := range report.Refusals {
				stops = stops || r.Stops()
			}
			if stops != test.stops {
				t.Errorf("got %+v", report.Refusals)
			}
		})
	}
}
