package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// oneCluster has a HelmRelease, and bootstraps of two clusters.
const oneCluster = `-- clusters/a/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}
-- apps/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: x}
spec:
  chart: {spec: {chart: app, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}
-- config/a/kustomization.yaml --
helmCharts: [{name: app, releaseName: app, namespace: x, version: 2.0.0}]
-- config/b/kustomization.yaml --
helmCharts: [{name: app, releaseName: app, namespace: x, version: 2.0.0}]
`

// What stands beside a cluster's bootstrap is another cluster's, and is not compared with the only one that Git has.
func TestOtherClusters(t *testing.T) {
	start, _, _ := strings.Cut(oneCluster, "-- apps")
	second := strings.ReplaceAll(start, "clusters/a", "clusters/b")
	for name, c := range map[string]struct{ files, want string }{
		"of a cluster that is not here": {oneCluster, "drift unresolved"},
		"of two that are":               {oneCluster + second, "drift drift"},
		"of another file":               {strings.Replace(oneCluster, "config/b", "config/b/more", 1), "drift drift"},
		"of no cluster":                 {strings.NewReplacer("config/a", "config/y", "config/b", "config/z").Replace(oneCluster), "drift drift"},
		"out of use":                    {strings.Replace(oneCluster, "config/b", ".archive/config/b", 1), "drift"},
		"a helmfile out of use":         {strings.Replace(oneCluster, "config/b/kustomization.yaml --\nhelmCharts", "old/helmfile.yaml --\nreleases", 1), "drift"},
	} {
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(c.files))), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range report.Releases {
			got = append(got, string(r.Verdict))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// The folder of a cluster's bootstrap tells the cluster, also if nothing in Git syncs that folder.
// Reproduces: cluster-test of tvories/k8s-gitops.
func TestFoldersOfClusters(t *testing.T) {
	const orphan = `-- apps/other.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: x}
-- k8s/clusters/one/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: x}
spec:
  chart: {spec: {chart: app, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}
-- k8s/clusters/two/talos/kustomization.yaml --
helmCharts: [{name: app, releaseName: app, namespace: x, version: 2.0.0}]
`
	const apps = "-- k8s/clusters/two/apps.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: x}\nspec: {url: https://example.com/charts}\n"
	const instance = "-- k8s/clusters/two/flux.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec: {sync: {kind: GitRepository, url: https://example.com/a.git, ref: refs/heads/main, path: k8s/clusters/one}}\n"
	helmfile := strings.NewReplacer("kustomization.yaml --\nhelmCharts: [{name: app, releaseName: app", "helmfile.yaml --\nreleases:\n- {name: flux-operator, namespace: flux-system, chart: charts/flux-operator, hooks: [{events: [postsync], command: kubectl, args: [apply, -f, ../flux.yaml]}]}\n- {chart: charts/app, name: app",
		"version: 2.0.0}]", "version: 2.0.0}").Replace(orphan)
	start, _, _ := strings.Cut(oneCluster, "-- apps")
	for name, c := range map[string]struct{ files, want string }{
		"of another one":           {start + orphan + apps, "unresolved"},
		"of no cluster":            {start + orphan, "drift"},
		"that start another one":   {helmfile + instance, "drift"},
		"of the same":              {start + strings.ReplaceAll(orphan, "clusters/two", "clusters/one"), "drift"},
		"shared by the clusters":   {start + strings.ReplaceAll(orphan, "clusters/one", "clusters/base"), "drift"},
		"of no folder of clusters": {start + strings.ReplaceAll(orphan, "k8s/clusters", "k8s/kinds"), "drift"},
	} {
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(c.files))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := report.Releases[len(report.Releases)-1]; string(r.Verdict) != c.want {
			t.Errorf("%s: got %s (%s), want %s", name, r.Verdict, r.Reason, c.want)
		}
	}
}

// The path that a bootstrap's FluxInstance syncs tells its cluster, whatever their folders are called.
func TestClusterBySyncPath(t *testing.T) {
	const cluster = `-- clusters/NAME/flux-system/instance.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}, sync: {kind: GitRepository, url: "https://example.com/a.git", ref: refs/heads/main, path: PATH}}
-- clusters/NAME/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: x}
spec:
  chart: {spec: {chart: app, version: VERSION, sourceRef: {kind: HelmRepository, name: charts}}}
`
	const bootstrap = `-- bootstrap/NAME/helmfile.yaml --
releases:
- {name: app, namespace: x, chart: charts/app, version: 1.0.0}
`
	const hook = bootstrap + `- {name: flux-operator, namespace: flux-system, chart: charts/flux-operator, hooks: [{events: [postsync], command: kubectl, args: [apply, -f, ../../clusters/CLUSTER/flux-system/instance.yaml]}]}
`
	const chart = bootstrap + `- {name: flux, namespace: flux-system, chart: charts/flux-instance, values: [{instance: {sync: {path: ./clusters/CLUSTER}}}]}
`
	for name, c := range map[string]struct{ bootstrap, version, want string }{
		"by a hook":              {strings.ReplaceAll(hook, "CLUSTER", "p1"), "1.0.0", "agrees p1"},
		"drift by a hook":        {strings.ReplaceAll(hook, "CLUSTER", "p1"), "2.0.0", "drift p1"},
		"by values":              {strings.ReplaceAll(chart, "CLUSTER", "p1"), "1.0.0", "agrees p1"},
		"another than the file":  {strings.ReplaceAll(chart, "CLUSTER", "staging"), "1.0.0", "drift staging"},
		"of a path that is none": {strings.ReplaceAll(chart, "CLUSTER", "p9"), "1.0.0", "unresolved "},
		"by nothing":             {bootstrap, "1.0.0", "unresolved "},
	} {
		fleet := strings.NewReplacer("NAME", "p1", "PATH", "clusters/p1", "VERSION", c.version).Replace(cluster) +
			strings.NewReplacer("NAME", "staging", "PATH", "./clusters/staging", "VERSION", "3.0.0").Replace(cluster) +
			strings.ReplaceAll(bootstrap, "NAME", "staging") + strings.ReplaceAll(c.bootstrap, "NAME", "prod")
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(fleet))), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := report.Releases[0]
		if got := string(r.Verdict) + " " + r.Cluster; r.File != "bootstrap/prod/helmfile.yaml" || got != c.want {
			t.Errorf("%s: got %s of %s (%s), want %s", name, got, r.File, r.Reason, c.want)
		}
	}
}

// A helmfile that defines environments and no default is used with one of those: what depends on it is unresolved.
func TestOtherEnvironments(t *testing.T) {
	const files = `-- bootstrap/helmfile.yaml.gotmpl --
environments:
  blue: {values: [{replicas: 3, host: blue}]}
  green: {values: [{replicas: 3, host: green}]}
---
releases:
- {name: app, namespace: x, chart: charts/app, version: 1.0.0, values: ["{{ .Environment.Name }}.yaml", host: "{{ .Values.host }}"]}
- {name: other, namespace: x, chart: charts/other, version: 2.0.0}
-- bootstrap/blue.yaml --
color: blue
`
	whole, _, _ := strings.Cut(oneCluster, "-- config")
	_, apps, _ := strings.Cut(whole, "-- apps")
	other := whole + strings.NewReplacer("app.yaml", "other.yaml", "name: app,", "name: other,", "chart: app,", "chart: other,").Replace("-- apps"+apps)
	report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(other+files))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := report.Releases[0], report.Releases[1]; a.Verdict != Unresolved || !strings.Contains(a.Reason, "environment, of which the file defines blue, green, and no default") || b.Verdict != Drift || len(report.Refusals) > 0 && report.Refusals[0].Certain {
		t.Errorf("got %s (%s), %s, refusals %v", a.Verdict, a.Reason, b.Verdict, report.Refusals)
	}
}
