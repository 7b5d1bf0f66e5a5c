package reconcile

import (
	"strings"
	"testing"
)

// TestRemoteRoots: a Kustomization that a cluster applies to another one starts that one, with what patches set in it.
// Reproduces: a7d-corp/homelab-clusters-fleet, of whose second cluster nothing was built.
func TestRemoteRoots(t *testing.T) {
	const (
		source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n"
		ref    = "prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}"
		of     = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME, namespace: flux-system}\n"
	)
	files := "-- clusters/hub/flux-system/gotk-sync.yaml --\n" + source + "---\n" + strings.Replace(of, "NAME", "flux-system", 1) + "spec: {path: ./clusters/hub, " + ref + "}\n" +
		"-- clusters/hub/flux-system/kustomization.yaml --\nresources: [gotk-sync.yaml]\n" +
		"-- clusters/hub/spoke.yaml --\n" + strings.Replace(of, "NAME", "spoke", 1) + "spec:\n  path: ./remote\n  prune: true\n  interval: 1h\n  sourceRef: {kind: GitRepository, name: flux-system}\n  kubeConfig: {secretRef: {name: spoke}}\n" +
		"  patches:\n    - target: {kind: Kustomization}\n      patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"./clusters/spoke\"}]'\n" +
		"-- remote/sync.yaml --\n" + source + "---\n" + strings.Replace(of, "NAME", "flux-system", 1) + "spec: {path: changeme, " + ref + "}\n" +
		"-- clusters/spoke/apps.yaml --\n" + strings.Replace(of, "NAME", "apps", 1) + "spec: {path: ./apps, " + ref + "}\n" +
		"-- apps/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	for name, c := range map[string]struct{ old, with, want string }{
		"of the repository itself":   {"", "", "clusters/hub clusters/spoke"},
		"of another repository":      {"-- remote/sync.yaml --\n" + source, "-- remote/sync.yaml --\n" + strings.Replace(source, "fleet", "other", 1), "clusters/hub"},
		"a folder that is not there": {"./clusters/spoke\"", "./clusters/spokes\"", "clusters/hub"},
		"not to another cluster":     {"  kubeConfig: {secretRef: {name: spoke}}\n", "", "clusters/hub"},
	} {
		if got := rootsIn(t, strings.Replace(files, c.old, c.with, 1)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
