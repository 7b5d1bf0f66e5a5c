package reconcile

import (
	"strings"
	"testing"
)

// TestSecondName: a source is the repository itself where it has the address and branch that the FluxInstance syncs, or
// where a file that no build applies defines it with the address of the root's source.
func TestSecondName(t *testing.T) {
	instance := "-- flux-instance.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n" +
		"spec: {distribution: {version: 2.x}, sync: {kind: GitRepository, url: https://example.com/me/fleet, ref: refs/heads/main, path: clusters/prod}}\n"
	apps := "-- clusters/prod/apps.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n" +
		"spec: {path: ./apps, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: home}}\n-- apps/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	home := func(file, url, branch string) string {
		return "-- " + file + " --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: home, namespace: flux-system}\nspec: {url: '" + url + "', ref: {branch: " + branch + "}}\n"
	}
	for _, c := range []struct {
		name, files    string
		built, assumed bool
	}{
		{"applied, of the same address", home("clusters/prod/home.yaml", "ssh://git@example.com/me/fleet.git", "main"), true, false},
		{"applied, of another branch", home("clusters/prod/home.yaml", "https://example.com/me/fleet", "next"), false, false},
		{"applied, of another address", home("clusters/prod/home.yaml", "https://example.com/me/other", "main"), false, false},
		{"applied by nothing, of the same address", home("old-config/home.yaml", "https://example.com/me/fleet", "main"), true, true},
		{"applied by nothing, of another address", home("old-config/home.yaml", "https://example.com/me/other", "main"), false, false},
		{"of an example", home("examples/home.yaml", "https://example.com/me/fleet", "main"), false, false},
		{"nowhere", "", false, false},
	} {
		repo := parsed(t, instance+apps+c.files)
		fleet, err := Reconcile(t.Context(), repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		k, ok := fleet.Clusters[0].Kustomization("flux-system", "apps")
		if !ok || (k.Repo != nil) != c.built || (k.Assumed != nil) != c.assumed {
			t.Errorf("%s: found %t, built %t, assumed %t", c.name, ok, ok && k.Repo != nil, ok && k.Assumed != nil)
		}
	}
}

// TestRenderedRoot: a Kustomization that syncs its own folder starts a cluster although the folder that it is rendered
// from, which holds it too, looks as if it applied that.
func TestRenderedRoot(t *testing.T) {
	const ks = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux, namespace: flux-system}\nspec: {path: ./bootstrap/a, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: fleet}}\n"
	const source = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n"
	rendered := "-- bootstrap/a/all.yaml --\n" + ks + source
	from := "-- manifests/a/kustomization.yaml --\nresources: [flux.yaml]\n-- manifests/a/flux.yaml --\n" + ks
	if got := rootsIn(t, rendered+from); got != "bootstrap/a" {
		t.Errorf("got %q", got)
	}
	other := strings.Replace(from, "name: flux,", "name: other,", 1)
	if got := rootsIn(t, rendered+other); got == "bootstrap/a" {
		t.Errorf("another Kustomization applies the folder, but %q starts a cluster", got)
	}
}
