package reconcile

import (
	"strings"
	"testing"
)

// TestSyncThatNothingLists: the sync that flux bootstrap has applied is a root where the
// kustomization beside it doesn't list it, unless there is another one.
func TestSyncThatNothingLists(t *testing.T) {
	const sync = "-- clusters/DIR/flux-system/gotk-sync.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: ./clusters/DIR, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}}\n"
	const without = "-- clusters/DIR/flux-system/kustomization.yaml --\nresources: [a.yaml]\n-- clusters/DIR/flux-system/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	a, b := strings.NewReplacer("DIR", "a"), strings.NewReplacer("DIR", "b")
	for _, c := range []struct{ name, files, want string }{
		{"not listed", a.Replace(sync + without), "clusters/a"},
		{"neither of two", a.Replace(sync+without) + b.Replace(sync+without), "clusters/a clusters/b"},
		{"one of two", a.Replace(sync+without) + b.Replace(sync), "clusters/b"},
		{"another's name", strings.ReplaceAll(a.Replace(sync+without), "name: flux-system,", "name: other,"), ""},
	} {
		if got := rootsIn(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// rootsIn are the paths of the clusters in a repository.
func rootsIn(t *testing.T, files string) string {
	t.Helper()
	var got []string
	for _, cluster := range fleetOf(t, files).Clusters {
		got = append(got, cluster.Root.Path)
	}
	return strings.Join(got, " ")
}

func fleetOf(t *testing.T, files string) *Fleet {
	t.Helper()
	repo := parsed(t, files)
	fleet, err := Reconcile(t.Context(), repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

// A catalog of applications starts no cluster: its Kustomizations have the names that
// whoever installs an application gives them.
func TestCatalogStartsNoCluster(t *testing.T) {
	const catalog = "-- services/a/1.0.0/release.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME, namespace: NAMESPACE}\n" +
		"spec: {path: ./services/a/1.0.0/release, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: management, namespace: flux}}\n" +
		"-- services/a/1.0.0/release/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NAMESPACE}\n"
	for _, c := range []struct{ name, namespace, want string }{
		{"a", "apps", "services/a/1.0.0"},
		{"a", "${releaseNamespace}", ""},
		{"${releaseName}", "apps", ""},
	} {
		if got := rootsIn(t, strings.NewReplacer("NAMESPACE", c.namespace, "NAME", c.name).Replace(catalog)); got != c.want {
			t.Errorf("%s/%s: got %q, want %q", c.namespace, c.name, got, c.want)
		}
	}
}
