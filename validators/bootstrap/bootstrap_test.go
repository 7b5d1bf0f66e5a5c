package bootstrap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/bootstrap"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

const repo = `-- bootstrap/eu/helmfile.yaml --
releases:
  - name: app
    namespace: a
    chart: oci://ghcr.io/charts/app
    version: 1.0.0
    values:
      - adminPassword: hunter2
        replicas: 2
  - name: nobody
    namespace: a
    chart: oci://ghcr.io/charts/nobody
-- clusters/eu/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: a}
spec:
  chartRef: {kind: OCIRepository, name: app}
  valuesFrom:
    - {kind: Secret, name: app}
  values:
    adminPassword: hunter3
    replicas: 1
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: app, namespace: a}
spec:
  url: oci://ghcr.io/charts/app
  ref: {tag: 1.0.1}
`

// TestFindings checks what a finding says: its place in the bootstrap, the
// cluster, the object and both values, but no secret.
func TestFindings(t *testing.T) {
	t.Parallel()
	found := ruletest.Find(t, bootstrap.VersionDrift, repo)
	if len(found) != 1 {
		t.Fatalf("got %+v", found)
	}
	f := found[0]
	if f.File != "bootstrap/eu/helmfile.yaml" || f.Line != 5 || f.Column != 14 || f.Cluster != "eu" ||
		f.Object.Kind != "HelmRelease" || f.Object.Name != "app" || f.Hint != "Git was updated, but the helmfile was not" {
		t.Errorf("got %+v", f)
	}
	if want := `release "app": version is 1.0.0 in the bootstrap and 1.0.1 in Git (clusters/eu/app.yaml:17)`; f.Message != want {
		t.Errorf("got %s, want %s", f.Message, want)
	}
	values := ruletest.Find(t, bootstrap.ValuesDrift, repo)
	if len(values) != 2 {
		t.Fatalf("got %+v", values)
	}
	for _, v := range values {
		if strings.Contains(v.Message, "hunter") {
			t.Errorf("the message holds a secret: %s", v.Message)
		}
	}
}

// TestAbsent names the values file that isn't there, and the tool that stops.
func TestAbsent(t *testing.T) {
	t.Parallel()
	found := ruletest.Find(t, bootstrap.ValuesDrift, `-- cni/kustomization.yaml --
helmCharts:
  - name: app
    releaseName: app
    namespace: a
    version: 1.0.0
    valuesFile: gone.yaml
-- app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: a}
spec: {chart: {spec: {chart: app, version: 1.0.0}}}
`)
	if len(found) != 1 || found[0].Line != 6 || found[0].Hint != "kustomize fails there: correct the path" ||
		found[0].Message != `release "app": the values cannot be read: the values file cni/gone.yaml does not exist` {
		t.Errorf("got %+v", found)
	}
}

func TestUnresolved(t *testing.T) {
	t.Parallel()
	_, unresolved := ruletest.Run(t, bootstrap.HelmReleaseMissing, repo)
	if len(unresolved) != 1 || unresolved[0].Line != 9 || !strings.Contains(unresolved[0].Reason, `"nobody"`) {
		t.Errorf("got %+v", unresolved)
	}
	if found, unresolved := ruletest.Run(t, bootstrap.ValuesDrift, "-- a.yaml --\na: 1\n"); len(found)+len(unresolved) > 0 {
		t.Errorf("a repository without a bootstrap has %v, %v", found, unresolved)
	}
}

// TestRefused finds what helmfile certainly stops at, and leaves open what depends on where it runs.
func TestRefused(t *testing.T) {
	t.Parallel()
	const refused = "-- helmfile.yaml --\nreleases:\n  - {name: app, namespace: a, chart: oci://ghcr.io/charts/app, versions: 1.0.0}\n  - {name: b, namespace: a, chart: oci://ghcr.io/charts/app, verify: many}\n"
	found, unresolved := ruletest.Run(t, bootstrap.Refused, refused)
	if len(found) != 1 || len(unresolved) != 0 || found[0].Line != 2 || !strings.Contains(found[0].Message, "helmfile fails: ") ||
		!strings.Contains(found[0].Message, "versions") {
		t.Errorf("a refusal is told as %+v, %+v", found, unresolved)
	}
	const alone = "-- helmfile.d/apps.yaml --\nhelmDefault: {wait: true}\nreleases:\n  - {name: app, namespace: a, chart: oci://ghcr.io/charts/app, version: 1.0.0}\n"
	if found, _ = ruletest.Run(t, bootstrap.Refused, alone); len(found) != 1 || found[0].Line != 1 || found[0].Message != `helmfile fails: a helmfile has no field "helmDefault"; did you mean "helmDefaults"?` {
		t.Errorf("the only other field is told as %+v", found)
	}
	const open = "-- helmfile.yaml --\nreleases:\n  - name: app\n    namespace: a\n    chart: x/app\n    version: '{{ repeat (env \"V\" | int) \"1\" }}'\n"
	if found, unresolved = ruletest.Run(t, bootstrap.Refused, open); len(found) != 0 || len(unresolved) != 1 {
		t.Errorf("what depends on the environment is told as %+v, %+v", found, unresolved)
	}
	const empty = "-- helmfile.yaml.gotmpl --\nreleases:\n  - name: a\n   chart: x/a\n"
	if found, unresolved = ruletest.Run(t, bootstrap.Refused, empty); len(found) != 1 || len(unresolved) != 0 || found[0].Line != 3 {
		t.Errorf("a file that is no YAML is told as %+v, %+v", found, unresolved)
	}
	const template = "releases: [\n  - name: a\n    chart: x/a\n    version: '{{ %s }}'\n"
	for _, c := range []struct {
		what, file, expression string
		found, unresolved      int
	}{
		{"no YAML, with a template", "helmfile.yaml", ".Release.Labels.version", 1, 0},
		{"no YAML, if rendered, too", "helmfile.yaml", "add 1 2", 1, 0},
		{"no YAML, by the environment", "helmfile.yaml", `env "V"`, 0, 1},
		{"no YAML, with a function of another program", "helmfile.yaml", "version", 0, 1},
		{"no YAML, of another program", "templates/helmfile.yaml", "version", 0, 0},
	} {
		found, unresolved = ruletest.Run(t, bootstrap.Refused, "-- "+c.file+" --\n"+fmt.Sprintf(template, c.expression))
		if len(found) != c.found || len(unresolved) != c.unresolved || c.found > 0 && found[0].Line != 1 {
			t.Errorf("%s: found %+v, unresolved %+v", c.what, found, unresolved)
		}
	}
	const repositories = "-- helmfile.yaml --\nrepositories:\n  - {name: coredns, url: https://example.com/charts}\nreleases:\n  - name: a\n    namespace: a\n    chart: %s/a\n"
	for prefix, want := range map[string]string{"coredns": "", "other": "", "cordns": `helmfile fails: the helmfile has no repository "cordns"; did you mean "coredns"?`, "oci://cordns": "", "./cordns": ""} {
		found, unresolved = ruletest.Run(t, bootstrap.Refused, fmt.Sprintf(repositories, prefix))
		if len(unresolved) != 0 || len(found) > 1 || len(found) == 0 && want != "" || len(found) == 1 && (found[0].Message != want || found[0].Line != 6) {
			t.Errorf("a repository %s is told as %+v, %+v", prefix, found, unresolved)
		}
	}
	if found, _ = ruletest.Run(t, bootstrap.Refused, fmt.Sprintf(repositories, "cordns")+"-- cordns/a/Chart.yaml --\nname: a\n"); len(found) != 0 {
		t.Errorf("a folder is told as %+v", found)
	}
	const gone = "-- helmfile.yaml --\nreleases:\n  - {name: app, namespace: a, chart: oci://ghcr.io/charts/app, version: '{{ readFile \"gone\" }}'}\n"
	if found, unresolved = ruletest.Run(t, bootstrap.Refused, gone+"-- app.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"+
		"metadata: {name: app, namespace: a}\nspec: {chart: {spec: {chart: app}}}\n"); len(found)+len(unresolved) != 0 {
		t.Errorf("a file that another rule tells of is told as %+v, %+v", found, unresolved)
	}
}

// shared is a helmfile whose releases have one template of their chart and values.
const shared = `-- bootstrap/helmfile.yaml --
templates:
  all:
    chart: '{{ (fromYaml (tpl (readFile "./release.gotmpl") .)).chart }}'
    version: '{{ (fromYaml (tpl (readFile "./release.gotmpl") .)).version }}'
releases:
  - {name: a, namespace: x, inherit: [{template: all}]}
  - {name: b, namespace: x, inherit: [{template: all}]}
  - {name: c, namespace: x, inherit: [{template: all}]}
-- bootstrap/release.gotmpl --
{{- $oci := fromYaml (readFile (printf "../apps/%s.yaml" .Release.Name)) -}}
chart: {{ $oci.spec.url }}
version: {{ $oci.spec.ref.tag }}
`

func sharedApp(name string) string {
	return "-- apps/" + name + ".yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: " + name + ", namespace: x}\n" +
		"spec: {url: oci://ghcr.io/charts/" + name + ", ref: {tag: 1.0.0}}\n-- apps/release-" + name + ".yaml --\n" +
		"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: x}\n" +
		"spec: {interval: 1h, chartRef: {kind: OCIRepository, name: " + name + "}}\n"
}

// TestASharedTemplateIsToldOnce, for all releases that it is the template of.
func TestASharedTemplateIsToldOnce(t *testing.T) {
	t.Parallel()
	all := shared + sharedApp("a") + sharedApp("b") + sharedApp("c")
	if found := ruletest.Find(t, bootstrap.TemplatePath, all); len(found) != 0 {
		t.Fatalf("what is there is told as %+v", found)
	}
	found := ruletest.Find(t, bootstrap.TemplatePath, strings.Replace(all, "../apps/", "../app/", 1))
	if want := `release "a": the chart cannot be read: the file app/a.yaml, which the template reads, does not exist; the same applies to 2 other releases: b, c`; len(found) != 1 || found[0].Line != 3 || found[0].Message != want {
		t.Errorf("a path is told as %+v", found)
	}
	broken := strings.Replace(all, "ref.tag", "ref.tga", 1)
	found, unresolved := ruletest.Run(t, bootstrap.Refused, broken)
	if len(found) != 1 || found[0].File != "bootstrap/release.gotmpl" || found[0].Line != 3 || len(unresolved) != 0 {
		t.Errorf("a field is told as %+v, %+v", found, unresolved)
	}
}

// TestAMisspeltChart is told with the one that was meant.
func TestAMisspeltChart(t *testing.T) {
	t.Parallel()
	const files = "-- helmfile.yaml --\nreleases:\n  - {name: a, namespace: x, chart: oci://ghcr.io/charts/cordns, version: 1.0.0}\n-- a.yaml --\n" +
		"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: x}\nspec: {chart: {spec: {chart: coredns, version: 1.0.0}}}\n"
	found := ruletest.Find(t, bootstrap.ChartDrift, files)
	if want := `Flux installs another chart than the bootstrap: did you mean "coredns"?`; len(found) != 1 || found[0].Hint != want {
		t.Errorf("got %+v, want the hint %s", found, want)
	}
}
