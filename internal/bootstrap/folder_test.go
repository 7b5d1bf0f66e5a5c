package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// local is a chart in a folder that both the bootstrap and Git install.
const local = `-- bootstrap/helmfile.yaml --
releases:
- {name: mon, namespace: mon, chart: ../charts/mon}
-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/prod/mon.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: mon, namespace: mon}
spec: {interval: 1h, chart: {spec: {chart: ./charts/mon, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}}
-- charts/mon/Chart.yaml --
apiVersion: v2
name: monitoring
version: 1.0.0
-- charts/other/Chart.yaml --
apiVersion: v2
name: monitoring
version: 2.0.0
`

// TestChartsInFolders takes name and version from Chart.yaml, as Helm does.
func TestChartsInFolders(t *testing.T) {
	t.Parallel()
	for chart, want := range map[string]struct {
		verdict Verdict
		rules   string
	}{
		"../charts/mon":                   {Agrees, ""},
		"../charts/mon, version: 9.0.0":   {Agrees, ""},
		"../charts/other":                 {Drift, RuleVersionDrift},
		"../charts/other, version: 1.0.0": {Drift, RuleVersionDrift},
		"../../elsewhere/monitoring":      {Unresolved, ""},
	} {
		archive := strings.Replace(local, "chart: ../charts/mon", "chart: "+chart, 1)
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(archive))), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := report.Releases[0]
		var rules []string
		for _, d := range r.Differences {
			rules = append(rules, d.Rule)
		}
		if r.Verdict != want.verdict || strings.Join(rules, " ") != want.rules {
			t.Errorf("%s: got %s %v (%s), want %v", chart, r.Verdict, rules, r.Reason, want)
		}
	}
}

// TestFoldersOfOtherCharts takes no folder next to a kustomization or a HelmChart for its chart: kustomize looks in chartHome, and
// K3s reads no folder.
func TestFoldersOfOtherCharts(t *testing.T) {
	t.Parallel()
	const chart = "\napiVersion: v2\nname: wrapper\nversion: 0.1.0\n"
	const kustomization = `-- bootstrap/kustomization.yaml --
helmCharts:
- {name: cilium, repo: "https://helm.cilium.io", releaseName: cilium, namespace: kube-system, version: 1.19.0}
`
	const helmChart = `-- bootstrap/cilium.yaml --
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: cilium, namespace: kube-system}
spec: {repo: "https://helm.cilium.io", chart: cilium, version: 1.19.0, targetNamespace: kube-system}
`
	for archive, want := range map[string]Verdict{
		kustomization + "-- bootstrap/cilium/Chart.yaml --" + chart:                                                                    Agrees,
		kustomization + "-- bootstrap/charts/cilium/Chart.yaml --" + chart:                                                             Agrees,
		kustomization + "-- bootstrap/charts/cilium-1.19.0/cilium/Chart.yaml --" + chart:                                               Drift,
		kustomization + "helmGlobals: {chartHome: .}\n-- bootstrap/cilium-1.19.0/cilium/Chart.yaml --" + chart:                         Drift,
		strings.Replace(kustomization, `repo: "https://helm.cilium.io", `, "", 1) + "-- bootstrap/charts/cilium/Chart.yaml --" + chart: Drift,
		helmChart + "-- bootstrap/cilium/Chart.yaml --" + chart:                                                                        Agrees,
		helmChart + "-- cilium/Chart.yaml --" + chart:                                                                                  Agrees,
	} {
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(archive+ciliumInGit))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := report.Releases[0]; r.Verdict != want {
			t.Errorf("%s: got %s (%s), want %s", archive, r.Verdict, r.Reason, want)
		}
	}
}

// TestHelmfileOfBases resolves the paths in a base from the folder of the helmfile, also if the helmfile has only bases.
func TestHelmfileOfBases(t *testing.T) {
	t.Parallel()
	const base = `
releases:
- name: mon
  namespace: mon
  chart: ../charts/mon
  values: [v.yaml]
  hooks: [{events: [presync], kubectlApply: {filename: v.yaml}}]
-- bootstrap/v.yaml --
a: 1
`
	_, rest, _ := strings.Cut(local, "-- clusters")
	git := strings.Replace("-- clusters"+rest, "spec: {interval: 1h,", "spec: {interval: 1h, values: {a: 1},", 1)
	for _, helmfile := range []string{
		"-- bootstrap/helmfile.yaml --\nbases: [base/releases.yaml]\n-- bootstrap/base/releases.yaml --" + base,
		"-- bootstrap/helmfile.yaml --\nenvironments: {default: {}}\n---\nbases: [base/releases.yaml]\n-- bootstrap/base/releases.yaml --" + base,
		"-- bootstrap/helmfile.yaml.gotmpl --\nbases:\n- base/releases.yaml\n-- bootstrap/base/releases.yaml --" + base,
	} {
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(helmfile+git))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := report.Releases[0]; len(report.Releases) != 1 || r.Verdict != Agrees {
			t.Errorf("%s: got %d releases, the first %s (%s)", helmfile, len(report.Releases), r.Verdict, r.Reason)
		}
		if got := problems(t, helmfile+git); got != "" {
			t.Errorf("%s: got %s", helmfile, got)
		}
	}
}

// ciliumInGit is a HelmRelease of a chart of a HelmRepository.
const ciliumInGit = `-- clusters/prod/cilium.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: cilium, namespace: kube-system}
spec: {interval: 1h, url: "https://helm.cilium.io"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec: {interval: 1h, chart: {spec: {chart: cilium, version: 1.19.0, sourceRef: {kind: HelmRepository, name: cilium}}}}
`
