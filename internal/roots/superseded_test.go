package roots_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// What once synced a folder around the one that a FluxInstance syncs starts no cluster.
// Reproduces: damacus/home-ops, whose older Kustomization lacked the source that the FluxInstance creates.
func TestSupersededRoots(t *testing.T) {
	values := "-- apps/flux/kustomization.yaml --\nconfigMapGenerator: [{name: values, files: [values.yaml]}]\n" +
		"-- apps/flux/values.yaml --\ninstance: {sync: {kind: GitRepository, url: https://example.com/me/fleet, ref: refs/heads/main, path: flux/cluster}}\n" +
		"-- flux/cluster/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}\n"
	old := func(dir, at, url string) string {
		return "-- " + dir + "/cluster.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: home, namespace: flux-system}\nspec: {url: " + url + "}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: cluster, namespace: flux-system}\nspec: {path: " + at + ", sourceRef: {kind: GitRepository, name: home}}\n"
	}
	instance := func(at string) string {
		return "-- stale/instance.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n" +
			"spec: {sync: {kind: GitRepository, url: https://example.com/me/fleet.git, ref: refs/heads/main, path: " + at + "}}\n"
	}
	for name, c := range map[string]struct{ files, want string }{
		"an older Kustomization":         {old("flux/config", "./flux", "https://example.com/me/fleet"), "flux/cluster"},
		"of another repository":          {old("flux/config", "./flux", "https://example.com/me/other"), "flux, flux/cluster"},
		"another cluster's":              {old("other", "./other", "https://example.com/me/fleet"), "flux/cluster, other"},
		"an older FluxInstance":          {instance("flux"), "flux/cluster"},
		"another one's":                  {instance("other") + "-- other/a.yaml --\na: b\n", "flux/cluster, other"},
		"both":                           {instance("flux") + old("flux/config", "./flux", "ssh://git@example.com/me/fleet"), "flux/cluster"},
		"one that a kustomization lists": {instance("flux") + "-- stale/kustomization.yaml --\nresources: [instance.yaml]\n", "flux, flux/cluster"},
	} {
		var got []string
		for _, r := range roots.Find(ruletest.Load(t, values+c.files), nil) {
			got = append(got, r.Path)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}
