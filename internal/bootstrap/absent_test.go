package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

const absentRelease = `-- apps/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: a}
spec:
  chart: {spec: {chart: app, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}
`

// TestPerhapsAbsent leaves open what a variable leads to where no folder fits the rest of the path.
func TestPerhapsAbsent(t *testing.T) {
	for _, path := range []string{"/other/gone.yaml", "/gone.yaml", "/web/gone.yaml", "apps/gone.yaml", "/../apps/gone.yaml"} {
		helmfile := "-- helmfile.yaml --\nreleases:\n  - {name: app, namespace: a, chart: charts/app, version: 1.0.0, values: ['{{ requiredEnv \"DIR\" }}" + path +
			"']}\n-- deep/web/values.yaml --\na: 1\n"
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(helmfile+absentRelease))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Releases) != 1 || report.Releases[0].Verdict != Unresolved || !strings.Contains(report.Releases[0].Reason, `requiredEnv "DIR"`) {
			t.Errorf("%s: got %+v", path, report.Releases)
		}
	}
}

// TestAbsent tells of values files that aren't there, and which tool stops.
func TestAbsent(t *testing.T) {
	helmfile := "-- talos/helmfile.yaml --\nreleases:\n  - {name: app, namespace: a, chart: charts/app, version: 1.0.0, values: [PATH]}\n"
	for _, test := range []struct{ name, repo, want, hint string }{
		{"helmfile", strings.Replace(helmfile, "PATH", "gone.yaml", 1),
			"the values file talos/gone.yaml does not exist   talos/helmfile.yaml:2\n", "helmfile fails there"},
		{"out of the repository", strings.Replace(helmfile, "PATH", "../../apps/gone.yaml", 1),
			"the values file ../apps/gone.yaml leads out of the repository and isn't read   talos/helmfile.yaml:2\n", "helmfile fails there"},
		{"below a variable", strings.Replace(helmfile, "PATH", `'{{ requiredEnv "ROOT" }}/apps/gone.yaml'`, 1),
			"the values file apps/gone.yaml does not exist   talos/helmfile.yaml:2\n", "helmfile fails there"},
		{"below a variable that is a folder", strings.Replace(helmfile, "PATH", `'{{ env "MAIN" }}/web/api/gone.yaml'`, 1) + "-- main/web/api/values.yaml --\na: 1\n",
			"the values file main/web/api/gone.yaml does not exist   talos/helmfile.yaml:2\n", "helmfile fails there"},
		{"a template", strings.Replace(helmfile, "PATH", "app.yaml.gotmpl", 1) + "-- talos/app.yaml.gotmpl --\n{{ readFile \"gone.yaml\" }}\n",
			"the file talos/gone.yaml, which the template reads, does not exist   talos/helmfile.yaml:2\n", "helmfile fails there"},
		{"kustomize", "-- cni/kustomization.yaml --\nhelmCharts:\n  - {name: app, releaseName: app, namespace: a, repo: https://charts.example.com, version: 1.0.0, valuesFile: gone.yaml}\n",
			"the values file cni/gone.yaml does not exist   cni/kustomization.yaml:2\n", "kustomize fails there"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(test.repo+absentRelease))), nil)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := report.WriteText(&out, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			if !strings.Contains(text, test.want) || !strings.Contains(text, "hint: "+test.hint) || strings.Contains(text, "(not set)") {
				t.Errorf("got\n%s", text)
			}
		})
	}
}

// TestWrittenByScript: the content of a values file that a script writes is unknown.
// Reproduces: talos/deploy-integrations.sh of tvories/k8s-gitops.
func TestWrittenByScript(t *testing.T) {
	const kustomization = "-- talos/cni/kustomization.yaml --\nhelmCharts:\n  - {name: app, releaseName: app, namespace: a, repo: https://charts.example.com, version: 1.0.0, valuesFile: values.yaml}\n"
	const helmfile = "-- talos/cni/helmfile.yaml --\nreleases:\n  - {name: app, namespace: a, chart: charts/app, version: 1.0.0, values: [values.yaml]}\n"
	for script, want := range map[string]Verdict{
		"envsubst < ../apps/values.yaml > cni/values.yaml":                   Unresolved,
		"cp apps/values.yaml \"$ROOT/talos/cni/values.yaml\"":                Unresolved,
		"sops -d values.sops.yaml 2>/dev/null | tee ./cni/values.yaml | wc":  Unresolved,
		"envsubst < cni/values.yaml > /dev/null":                             Drift,
		"envsubst < ../apps/values.yaml > csi/values.yaml; cat < cni/values": Drift,
	} {
		for _, file := range []string{kustomization, helmfile} {
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(file+absentRelease+"-- talos/deploy.sh --\n"+script+"\n"))), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := report.Releases[0]
			if r.Verdict != want || want == Unresolved && (!strings.Contains(r.Reason, "which talos/deploy.sh writes") || len(report.Refusals) > 0) {
				t.Errorf("%s: %s, %s (%s), refusals %v", script, file, r.Verdict, r.Reason, report.Refusals)
			}
		}
	}
}
