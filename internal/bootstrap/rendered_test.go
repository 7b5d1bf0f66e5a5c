package bootstrap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/testarchive"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// verifyRendered is the report on an archive, with the objects compared.
func verifyRendered(t *testing.T, a *txtar.Archive) *Report {
	t.Helper()
	repo := testarchive.Repository(t, a)
	fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := VerifyRendered(t.Context(), repo, fleet)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestVerifyRendered compares the text report of each archive, with the objects compared, with its file "want".
func TestVerifyRendered(t *testing.T) {
	archives, err := filepath.Glob("../../testdata/bootstraps/helm/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			report := verifyRendered(t, a)
			var got bytes.Buffer
			if err := report.WriteText(&got, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			testarchive.CheckWant(t, name, a, got.Bytes())
			whole, err := json.Marshal(report)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"before-7Hq2", "after-9Kx4", "one-5Tz8", "two-6Wb1", "wrong-5Tz8", "YmVmb3JlLTdIcTI", "YWZ0ZXItOUt4N"} {
				if bytes.Contains(whole, []byte(secret)) || bytes.Contains(got.Bytes(), []byte(secret)) {
					t.Errorf("the report contains the secret %s", secret)
				}
			}
			if bytes.Contains(whole, []byte("null,")) && bytes.Contains(whole, []byte(`"fields":null`)) {
				t.Error("a list is null")
			}
		})
	}
}

// comparedChart is a chart whose objects each depend on some of its values.
const comparedChart = `-- charts/app/Chart.yaml --
apiVersion: v2
name: app
version: 1.0.0
-- charts/app/values.yaml --
a: 1
b: text
c: {d: true, e: [1, 2]}
f: {}
-- charts/app/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {a: {{ .Values.a | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, annotations: {helm.sh/hook: pre-install}}
data: {b: {{ .Values.b | default "none" | quote }}}
---
{{- if dig "d" false (.Values.c | default dict) }}
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {e: {{ dig "e" "" (.Values.c | default dict) | toJson | quote }}}
---
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: f}
data: {f: {{ .Values.f | toJson | quote }}}
`

// comparedSync applies the HelmRelease of the chart.
const comparedSync = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, url: https://example.com/fleet.git}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: apps}
spec:
  interval: 1h
  chart: {spec: {chart: ./charts/app, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
  values: `

// TestRenderedAsHelm: what differs is what differs between the outputs of helm template for both sides.
func TestRenderedAsHelm(t *testing.T) {
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(comparedChart)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	results := map[Verdict]int{}
	for range 25 {
		own, git := someValues(random), someValues(random)
		text := comparedChart + "-- clusters/prod/all.yaml --\n" + comparedSync + git + "\n-- bootstrap/helmfile.yaml --\nreleases:\n" +
			"- {name: app, namespace: apps, chart: ../charts/app, version: 1.0.0, values: [" + own + "]}\n"
		report := verifyRendered(t, txtar.Parse([]byte(text)))
		r := report.Releases[0]
		results[r.Verdict]++
		if r.Rendered == nil || r.Rendered.Result == NotRendered {
			t.Fatalf("%s and %s: %s, not rendered: %+v", own, git, r.Verdict, r.Rendered)
		}
		before, after := helmTemplate(t, dir, own), helmTemplate(t, dir, git)
		var want, got []string
		for name, object := range after {
			if old, known := before[name]; !known {
				want = append(want, "+"+name)
			} else if !reflect.DeepEqual(old, object) {
				want = append(want, "~"+name)
			}
		}
		for name := range before {
			if _, kept := after[name]; !kept {
				want = append(want, "-"+name)
			}
		}
		for mark, objects := range map[string][]InstalledObject{"+": r.Rendered.Added, "-": r.Rendered.Removed, "~": r.Rendered.Changed} {
			for _, o := range objects {
				got = append(got, mark+o.Object.Name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || len(want) == 0 != (r.Verdict == Agrees || r.Verdict == Cosmetic) {
			t.Errorf("from %s to %s: %s, %v differ; helm: %v", own, git, r.Verdict, got, want)
		}
	}
	if results[Cosmetic] == 0 || results[Drift] == 0 {
		t.Errorf("the verdicts are %v", results)
	}
}

// someValues are values of the chart, defaults among them.
func someValues(random *rand.Rand) string {
	var fields []string
	for _, field := range []struct {
		name  string
		among []string
	}{
		{"a", []string{"1", "1.0", "2", `"1"`, "null"}}, {"b", []string{"text", "other", `""`, "null"}},
		{"c", []string{"{d: true}", "{}", "{d: false, e: [3]}", "{e: [1, 2]}", "null"}}, {"f", []string{"{}", "{g: 1}", "null"}},
		{"unused", []string{"1", "{}"}},
	} {
		if random.IntN(3) == 0 {
			fields = append(fields, field.name+": "+field.among[random.IntN(len(field.among))])
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// helmTemplate are the objects that helm prints, by their names.
func helmTemplate(t *testing.T, dir, values string) map[string]map[string]any {
	t.Helper()
	file := filepath.Join(dir, "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	helm := testpeer.Command{Tool: "helm", Args: []string{"template", "app", filepath.Join(dir, "charts/app"), "--namespace", "apps", "--values", file}, Reads: []string{dir}}
	nodes, err := (&kio.ByteReader{Reader: strings.NewReader(helm.Output(t)), OmitReaderAnnotations: true}).Read()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, n := range nodes {
		object, err := n.Map()
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint(n.GetName())] = object
	}
	return all
}
