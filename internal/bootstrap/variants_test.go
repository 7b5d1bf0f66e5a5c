package bootstrap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestWorlds evaluates bootstraps that depend on the environment: what is the same whatever its
// variables are is certain, and nothing else is.
func TestWorlds(t *testing.T) {
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
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "{{ if env \"V%d\" }}{{ end }}", i)
	}
	for _, test := range []struct {
		name, archive string
		want          string // "verdict: fields; reason"
	}{
		{"same in both", release("1.0.0", `{{ if env "E" }}x: 1{{ else }}x: 1.0{{ end }}`+"\nz: 2\n"), "agrees"},
		{"differs in one", release("1.0.0", `x: {{ if env "E" }}1{{ else }}3{{ end }}`+"\nz: 2\n"), `unresolved; env "E"`},
		{"differs in both", release("1.0.0", `x: {{ if env "E" }}5{{ else }}3{{ end }}`+"\nz: 2\n"), "drift: values.x"},
		{"one drifts beside", release("1.0.0", `x: {{ if env "E" }}1{{ else }}3{{ end }}`+"\nz: 4\n"), "drift: values.z"},
		{"version", release(`'{{ env "E" | empty | ternary "1.0.0" "v1.0.0" }}'`, "x: 1\nz: 2\n"), "agrees"},
		{"a version in one", release(`'{{ eq (env "E") "p" | ternary "1.0.0" "1.0.1" }}'`, "x: 1\nz: 2\n"), `unresolved; env "E"`},
		{"one condition twice", release("1.0.0", `{{ if env "E" }}x: 1{{ else }}z: 2{{ end }}`+"\n"+`{{ if not (env "E") }}x: 1{{ else }}z: 2{{ end }}`+"\n"), "agrees"},
		{"two values of one variable", release("1.0.0", `{{ $v := 0 }}{{ if eq (env "E") "p" }}{{ $v = 1 }}{{ end }}{{ if eq (env "E") "q" }}{{ $v = 1 }}{{ end }}`+"x: {{ $v }}\nz: 2\n"), `unresolved; env "E"`},
		{"a changed variable", release("1.0.0", `x: {{ if eq (env "E") "p" }}{{ if eq (env "E" | upper) "p" }}3{{ else }}1{{ end }}{{ else }}1{{ end }}`+"\nz: 2\n"), `unresolved; env "E"`},
		{"or", release("1.0.0", `x: {{ if or (env "E") true }}1{{ else }}3{{ end }}`+"\nz: 2\n"), "agrees"},
		{"or of two", release("1.0.0", `x: {{ if or (env "E") (env "F") }}1{{ else }}3{{ end }}`+"\nz: 2\n"), `unresolved; env "E"`},
		{"and", release("1.0.0", `x: {{ if and (env "E") false }}3{{ else }}1{{ end }}`+"\nz: 2\n"), "agrees"},
		{"with", release("1.0.0", `{{ with env "E" }}{{ else }}{{ end }}`+"x: 1\nz: 2\n"), "agrees"},
		{"negated comparison", release("1.0.0", `{{ if ne (env "E") "p" }}x: 1{{ end }}`+"\n"+`{{ if eq (env "E") "p" }}x: 1{{ end }}`+"\nz: 2\n"), "agrees"},
		{"stops in one", release("1.0.0", `{{ if not (env "E") }}{{ fail "set E" }}{{ end }}`+"x: 1\nz: 2\n"), "agrees"},
		{"a file missing in one", release("1.0.0", `{{ if env "E" }}{{ readFile "gone.yaml" }}{{ end }}`+"x: 1\nz: 2\n"), `unresolved; (as hr.yaml:1; drifts from hr.yaml:1 in values`},
		{"too many", release("1.0.0", many.String()+"x: 1\nz: 2\n"), `unresolved; env "V0"`},
		{"a key", release("1.0.0", `{{ env "E" }}x: 1`+"\nz: 2\n"), `unresolved; env "E"`},
		{"loop", release("1.0.0", `{{ range env "E" }}{{ end }}`+"x: 1\nz: 2\n"), `unresolved; env "E"`},
		{"release in one", "-- helmfile.yaml.gotmpl --\nreleases:\n  {{- if env \"E\" }}\n  - name: a\n    namespace: n\n    chart: x/a\n    version: 1.0.1\n    values: [{x: 1, z: 2}]\n  {{- end }}\n" + git, "drift: version"},
		{"file", "-- helmfile.yaml.gotmpl --\nreleases:\n  - name: a\n    namespace: n\n    chart: x/a\n    version: {{ if env \"E\" }}1.0.0{{ else }}1.0.1{{ end }}\n    values: [{x: 1, z: 2}]\n  - name: b\n    namespace: n\n    chart: x/a\n    version: 1.0.0\n    values: [{x: 1, z: 2}]\n" +
			strings.Replace(git, "name: a,", "name: b,", 1) + strings.Replace(git, "hr.yaml", "a.yaml", 1), `unresolved; env "E"|agrees`},
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
			for i, want := range strings.Split(test.want, "|") {
				r := report.Releases[i]
				verdict, reason, _ := strings.Cut(want, "; ")
				got := string(r.Verdict)
				for _, d := range r.Differences {
					got += ": " + d.Field
				}
				if got != verdict || !strings.Contains(r.Reason, reason) {
					t.Errorf("release %s: got %s; %s", r.Release, got, r.Reason)
				}
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
		{"stops in one world", "-- helmfile.yaml --\n" + release + "    version: '{{ if env \"E\" }}{{ fail \"no\" }}{{ end }}'\n", false},
		{"stops in all worlds", "-- helmfile.yaml --\n" + release + "    version: '{{ if env \"E\" }}{{ fail \"no\" }}{{ else }}{{ fail \"no\" }}{{ end }}'\n", false},
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
