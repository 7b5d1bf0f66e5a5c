package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// A folder that has what a cluster's has, but for what starts the cluster there, is an error; one with less is a warning.
func TestRootBeside(t *testing.T) {
	cluster := func(name string) string {
		sync := strings.ReplaceAll(`-- clusters/NAME/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/NAME, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/NAME/flux-system/gotk-components.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: flux-system}
`, "NAME", name)
		return sync + strings.ReplaceAll(strings.Replace(kustomization("apps", ""), "clusters/prod", "clusters/NAME", 1), "NAME", name)
	}
	all := cluster("prod") + cluster("dev") + podinfoNamespace
	without := func(files, file string) string {
		from := strings.Index(files, "-- "+file+" --")
		to := strings.Index(files[from+3:], "\n-- ")
		return files[:from] + files[from+3+to+1:]
	}
	lists := "-- clusters/dev/flux-system/kustomization.yaml --\nresources: [gotk-components.yaml]\n-- clusters/prod/flux-system/kustomization.yaml --\nresources: [gotk-components.yaml, gotk-sync.yaml]\n"
	const dev = "clusters/dev/flux-system/gotk-sync.yaml"
	at := strings.Index(all, "-- "+dev)
	for name, c := range map[string]struct {
		files, file string
		severity    finding.Severity
	}{
		"both start": {all, "", ""},
		"a patch of the sync that nothing names": {all + `-- clusters/dev/health.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {timeout: 2m}
-- clusters/dev/kustomization.yaml --
resources: [flux-system, apps.yaml]
`, "", ""},
		"it is gone":                         {without(all, dev), "clusters/dev/apps.yaml", finding.Error},
		"another kind":                       {all[:at] + strings.Replace(all[at:], "kind: Kustomization", "kind: Kustomisation", 1), dev, finding.Error},
		"a kustomization does not list it":   {all + lists, dev, finding.Error},
		"a script starts it":                 {without(without(all, dev), "clusters/dev/flux-system/gotk-components.yaml") + "-- e2e.sh --\nflux create kustomization flux-system --path=./clusters/dev\n", "", ""},
		"a script names another one":         {without(without(all, dev), "clusters/dev/flux-system/gotk-components.yaml") + "-- e2e.sh --\nflux create kustomization flux-system --path=./clusters/dev2\n", "clusters/dev/apps.yaml", finding.Warning},
		"it is gone, and a script starts it": {without(all, dev) + "-- e2e.sh --\nflux create kustomization flux-system --path=./clusters/dev\n", "clusters/dev/apps.yaml", finding.Error},
		"nothing of flux bootstrap is there": {without(without(all, dev), "clusters/dev/flux-system/gotk-components.yaml"), "clusters/dev/apps.yaml", finding.Warning},
	} {
		found, _ := ruletest.Run(t, RootUnreached, c.files)
		switch {
		case c.file == "" && len(found) == 0:
		case len(found) != 1 || found[0].File != c.file || found[0].Severity != c.severity:
			t.Errorf("%s: got %+v, want one %s in %s", name, found, c.severity, c.file)
		}
	}
}

// The sync of a cluster in a folder that was moved as a whole is a warning, since the folder may be out of use; a typo is an
// error. Reproduces: the folder zholding of andycooney/infrastructure.
func TestMovedRoot(t *testing.T) {
	t.Parallel()
	sync := func(dir, at string) string {
		return "-- " + dir + "/flux-system/gotk-sync.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, url: https://example.com/fleet}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 10m, path: ./" + at + ", prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n"
	}
	for at, want := range map[string]finding.Severity{"kubernetes/cluster/home": finding.Warning, "holding/cluster/hme": finding.Error, "holding/cluster/garden": finding.Error} {
		found := ruletest.Find(t, RootUnreached, sync("clusters/prod", "clusters/prod")+sync("holding/cluster/home", at))
		if len(found) != 1 || found[0].Severity != want {
			t.Errorf("%s: %+v, want %s", at, found, want)
		}
	}
}

// The images of Flux before 2.0 are of a version that substitutes an empty string for variables which nothing defines.
// Reproduces: gotk-components.yaml of bo0tzz/kube and janfuhrer/fluxcd-monorepo.
func TestFluxBefore2(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]finding.Severity{"v0.35.1": finding.Warning, "v1.9.0": finding.Error} {
		found := ruletest.Find(t, SubstitutionUndefined, fluxSync+apps("  postBuild: {substitute: {a: b}}\n")+"-- apps/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\ndata: {a: '${a}', b: '${var}'}\n"+
			"-- clusters/prod/controller.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\nspec: {template: {spec: {containers: [{name: manager, image: 'ghcr.io/fluxcd/kustomize-controller:"+version+"'}]}}}\n")
		if len(found) != 1 || found[0].Severity != want {
			t.Errorf("%s: %+v, want %s", version, found, want)
		}
	}
}
