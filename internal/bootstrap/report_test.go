package bootstrap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

func archive(t testing.TB, name string) *repository.Repository {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("../../testdata/bootstraps", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return testarchive.Repository(t, a)
}

// TestReportJSON holds the stable JSON form: names of fields, and lists that are
// never null.
func TestReportJSON(t *testing.T) {
	report, err := Verify(t.Context(), archive(t, "verify/sample"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/sample.json"
	if *testarchive.Update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if strings.Contains(string(got), "null,") && strings.Contains(string(got), `"differences": null`) {
		t.Error("a list is null")
	}
}

func TestReportColor(t *testing.T) {
	report, err := Verify(t.Context(), archive(t, "verify/sample"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var plain, coloured strings.Builder
	if err := report.WriteText(&plain, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteText(&coloured, TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	without := coloured.String()
	for _, c := range colours {
		without = strings.ReplaceAll(without, "\x1b["+string(c)+"m", "")
	}
	without = strings.ReplaceAll(without, "\x1b[0m", "")
	if without != plain.String() || without == coloured.String() {
		t.Errorf("the colours change the text:\n%q", coloured.String())
	}
}

// TestReportControlCharacters keeps a hostile repository from writing to the
// terminal.
func TestReportControlCharacters(t *testing.T) {
	repo := testarchive.Repository(t, &txtar.Archive{Files: []txtar.File{{Name: "helmfile.yaml", Data: []byte(
		"releases:\n  - name: \"a\\e[2J\\u0085\"\n    namespace: \"\\a\"\n    chart: x/a\n    version: \"1\\r\\n\"\n")}}})
	report, err := Verify(t.Context(), repo, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report.WriteText(&out, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x85 }); i >= 0 {
		t.Errorf("a control character at %d of %q", i, out.String())
	}
}

func TestPlan(t *testing.T) {
	steps, err := Plan(t.Context(), archive(t, "layouts/apps"), Fetched{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		name := s.File + " " + s.Namespace + "/" + s.Release + " " + s.Version
		if s.CRDsOnly {
			name += " (CRDs)"
		}
		got = append(got, name)
		for _, need := range s.Needs {
			before := slices.ContainsFunc(got[:len(got)-1], func(g string) bool { return strings.Contains(g, s.File+" "+need+" ") })
			if !before {
				t.Errorf("%s comes before %s, which it needs", s.Release, need)
			}
		}
	}
	if got[0] != "bootstrap/crds.yaml network/envoy-gateway 1.9.0 (CRDs)" || len(got) != 7 {
		t.Errorf("got %q", got)
	}
}

func TestPlanCircle(t *testing.T) {
	repo := testarchive.Repository(t, &txtar.Archive{Files: []txtar.File{{Name: "helmfile.yaml", Data: []byte(`releases:
  - {name: a, namespace: n, chart: x/a, needs: [b]}
  - {name: b, namespace: n, chart: x/b, needs: [n/c]}
  - {name: c, namespace: n, chart: x/c, needs: [context/n/a]}
`)}}})
	_, err := Plan(t.Context(), repo, Fetched{})
	if err == nil || !strings.Contains(err.Error(), `helmfile.yaml:2: the release "n/a" needs itself`) {
		t.Errorf("got %v", err)
	}
}

func TestValues(t *testing.T) {
	all, err := helmfile.Values(t.Context(), archive(t, "verify/values-files"), "a/app")
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v", all, err)
	}
	got, err := json.Marshal(all[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"bootstrap/helmfile.yaml","line":4,"cluster":"","values":{"enabled":true,"last":1,"name":"a-app","nested":{"deep":5},"replicas":1},"unresolved":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for reference, message := range map[string]string{
		"app":   `"app" is not a release: pass NAMESPACE/NAME`,
		"a/b/c": `pass NAMESPACE/NAME`,
		"a/no":  `existing releases: "a/app", "a/gone", "a/optional"`,
	} {
		if _, err := helmfile.Values(t.Context(), archive(t, "verify/values-files"), reference); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: got %v", reference, err)
		}
	}
	// What cannot be known is left out, with the reason.
	all, err = helmfile.Values(t.Context(), archive(t, "verify/templated-helmfile"), "a/four")
	if err != nil || len(all) != 1 || all[0].Values["replicas"] != nil || len(all[0].Unresolved) != 1 {
		t.Errorf("got %+v, %v", all, err)
	}
}

// TestVerifyHostile holds repositories that would take all time or memory, or
// read outside of the root.
func TestVerifyHostile(t *testing.T) {
	release := "releases:\n  - name: a\n    namespace: n\n    chart: x/a\n"
	many := strings.Repeat("  - {name: a, namespace: n, chart: x/a, inherit: [{template: t0}]}\n", 2000)
	var chain strings.Builder
	for i := range 300 {
		chain.WriteString("  t" + itoa(i) + ": {inherit: [{template: t" + itoa(i+1) + "}, {template: t" + itoa(i+1) + "}]}\n")
	}
	flux := `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: n}
spec: {chart: {spec: {chart: a}}, values: {x: "${A:-${B:-${C}}}"}}
`
	for name, file := range map[string]string{
		"exponential":        "templates:\n" + chain.String() + "  t300: {}\nreleases:\n" + many,
		"escape":             release + "    values: [../../../../etc/passwd, /etc/passwd, '{{ readFile \"../../../etc/passwd\" }}']\n",
		"bases of itself":    "bases: [helmfile.yaml, ./helmfile.yaml]\n" + release,
		"no map":             "releases: [1, null, {name: 1, chart: [a]}, {name: {a: b}, chart: x, inherit: 3, values: 4}]\n",
		"self referring":     release + "    version: '{{ .Release.ChartVersion }}x'\n",
		"alias of itself":    "releases: &a\n  - {name: a, chart: b, values: [*a]}\n",
		"deep":               release + "    values: [" + strings.Repeat("{a: ", 500) + "1" + strings.Repeat("}", 500) + "]\n",
		"thousand releases":  "releases:\n" + strings.Repeat("  - {name: a, namespace: n, chart: x/a, version: '{{ repeat 100000 \"a\" }}'}\n", 1000),
		"private characters": release + "    version: \"\ue0f799999\ue0f8 \ue0f7-1\ue0f8 \ue0f7x\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Verify(t.Context(), testarchive.Repository(t, &txtar.Archive{Files: []txtar.File{
				{Name: "helmfile.yaml", Data: []byte(file)}, {Name: "helmfile.yaml.gotmpl", Data: []byte(file)}, {Name: "flux.yaml", Data: []byte(flux)}}}), nil)
			if err != nil && !strings.Contains(err.Error(), "bootstrap file") {
				t.Error(err)
			}
		})
	}
}

func itoa(i int) string {
	const digits = "0123456789"
	if i < 10 {
		return digits[i : i+1]
	}
	return itoa(i/10) + digits[i%10:i%10+1]
}

// TestVerifySymlinks reads a folder whose links lead out of it.
func TestVerifySymlinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.yaml"), []byte("password: hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"values.yaml": filepath.Join(outside, "secret.yaml"), "out": outside, "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	declared := "releases:\n  - {name: a, namespace: n, chart: x/a, values: [values.yaml]}\n" +
		"  - {name: b, namespace: n, chart: x/b, version: '{{ readFile \"out/secret.yaml\" }}'}\n" +
		"  - {name: c, namespace: n, chart: x/c, values: ['loop', 'out/*']}\n"
	if err := os.WriteFile(filepath.Join(dir, "helmfile.yaml"), []byte(declared), 0o600); err != nil {
		t.Fatal(err)
	}
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := Verify(t.Context(), repo, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report)
	if err != nil || strings.Contains(string(text), "hunter2") || report.Summary.Unresolved != 3 {
		t.Errorf("got %s, %v", text, err)
	}
}

// FuzzVerify looks for panics and for answers that change, in a repository of a
// helmfile, a values template and a file of Flux objects.
func FuzzVerify(f *testing.F) {
	archives, err := filepath.Glob("../../testdata/bootstraps/verify/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var helmfile, values, manifests string
		for _, file := range a.Files {
			switch data := string(file.Data); {
			case strings.Contains(data, "releases:"):
				helmfile = data
			case strings.HasSuffix(file.Name, ".gotmpl"):
				values = data
			case strings.Contains(data, "apiVersion:"):
				manifests += "---\n" + data
			}
		}
		f.Add(helmfile, values, manifests)
	}
	f.Fuzz(func(t *testing.T, helmfile, values, manifests string) {
		repo := testarchive.Repository(t, &txtar.Archive{Files: []txtar.File{
			{Name: "bootstrap/helmfile.yaml", Data: []byte(helmfile)},
			{Name: "bootstrap/helmfile.yaml.gotmpl", Data: []byte(helmfile)},
			{Name: "bootstrap/values.yaml.gotmpl", Data: []byte(values)},
			{Name: "apps/all.yaml", Data: []byte(manifests)},
			{Name: "apps/kustomization.yaml", Data: []byte("resources: [all.yaml]\nnamespace: a\n")},
		}})
		first, second := said(t, repo), said(t, repo)
		if first != second {
			t.Errorf("two answers:\n%s\n%s", first, second)
		}
	})
}

func said(t *testing.T, repo *repository.Repository) string {
	report, err := Verify(t.Context(), repo, nil)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	if err := report.WriteText(&out, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return out.String() + string(data)
}
