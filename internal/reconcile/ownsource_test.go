package reconcile

import (
	"testing"
)

// TestOwnSource: where nothing says what is synced, a source is taken for the repository itself by
// its address, or where the folders that are built from it are there.
func TestOwnSource(t *testing.T) {
	of := func(name, source, at string) string {
		return "-- clusters/prod/" + name + ".yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {path: " + at + ", prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: " + source + "}}\n"
	}
	git := func(name, url string) string {
		return "-- clusters/prod/" + name + "-git.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {url: '" + url + "'}\n"
	}
	const files = "-- apps/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	generator := "-- clusters/prod/parts.yaml --\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: parts, namespace: flux-system}\n" +
		"spec: {sources: [{alias: a, kind: GitRepository, name: a}, {alias: b, kind: GitRepository, name: b}], artifacts: [{name: x, copy: [{from: '@b/apps/*.yaml', to: '@artifact/'}, {from: '@a/charts/**', to: '@artifact/'}]}]}\n"
	for _, c := range []struct {
		name, files string
		remotes     []string
		want        string
	}{
		{"one that nothing defines", of("x", "fleet", "./gone"), nil, "fleet"},
		{"the one with the folders", of("x", "a", "./") + of("y", "a", "./deploy") + of("z", "b", "./apps"), nil, "b"},
		{"the one that most name", of("x", "b", "./") + of("y", "b", "./") + of("z", "a", "./"), nil, "b"},
		{"one that nothing defines before one with an address", of("x", "a", "./apps") + of("y", "b", "./apps") + git("a", "https://example.com/a"), nil, "b"},
		{"an address whose folders are there", of("x", "a", "./apps") + git("a", "https://example.com/a"), nil, "a"},
		{"an address whose folders aren't", of("x", "a", "./") + git("a", "https://example.com/a"), nil, ""},
		{"an address with folders before a name without", of("x", "a", "./apps") + of("y", "b", "./gone") + git("a", "https://example.com/a"), nil, "a"},
		{"an address of another repository", of("x", "a", "./apps") + git("a", "https://example.com/me/a"), []string{"git@example.com:me/fleet.git"}, ""},
		{"the address by another protocol", of("x", "a", "./") + git("a", "ssh://git@example.com/me/fleet"), []string{"https://example.com/me/fleet.git"}, "a"},
		{"the address of a fork", of("x", "a", "./") + git("a", "ssh://git@example.com/me/fleet"), []string{"https://example.com/you/fleet.git"}, "a"},
		{"a generator's", generator, nil, "b"},
	} {
		repo := parsed(t, c.files+files)
		fleet, err := Reconcile(t.Context(), repo, Options{Roots: []string{"clusters/prod"}, Remotes: c.remotes})
		if err != nil {
			t.Fatal(err)
		}
		if got := fleet.Clusters[0].Root.Source.Name; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		for _, k := range fleet.Clusters[0].Kustomizations[1:] {
			if own := k.Spec.SourceRef.Name == c.want; own != (k.Repo != nil) {
				t.Errorf("%s: the files of %s are at hand: %t", c.name, k, !own)
			}
		}
	}
}

// TestBoundarySource: a tenant's Kustomization is built whose source has the repository and branch that the boundary names.
func TestBoundarySource(t *testing.T) {
	repo := parsed(t, `
-- .fleetwright-tenant.yaml --
apiVersion: fleetwright.dev/v1alpha1
kind: TenantBoundary
metadata: {name: shop}
spec: {paths: [production], namespaces: [shop], targetNamespace: shop, syncNamespace: shop-flux, serviceAccountName: shop-helm, admission: {repository: "ssh://git@example.com/acme/fleet", branch: tenant/shop}}
-- production/own.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: own}
spec: {url: "https://example.com/acme/fleet.git", ref: {branch: tenant/shop}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: main}
spec: {url: "https://example.com/acme/fleet.git", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more}
spec: {path: ./more, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: own}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: other}
spec: {path: ./more, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: main}}
-- more/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
`)
	fleet, err := Reconcile(t.Context(), repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	built := map[string]bool{}
	for _, k := range fleet.Clusters[0].Kustomizations {
		built[k.Name] = k.Repo != nil
	}
	if !built["shop"] || !built["more"] || built["other"] {
		t.Errorf("with their files: %v", built)
	}
}
