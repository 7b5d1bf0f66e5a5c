package reconcile

import (
	"strings"
	"testing"
)

// TestSharedSync: clusters may share the sync in a base; each cluster's overlay gives it the path of the cluster's folder.
func TestSharedSync(t *testing.T) {
	sync := func(path string) string {
		return "-- clusters/base/flux-system/kustomization.yaml --\nresources: [sync.yaml]\n-- clusters/base/flux-system/sync.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {" + path + "prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: fleet}}\n"
	}
	overlay := func(cluster, change string) string {
		return "-- clusters/" + cluster + "/kustomization.yaml --\nresources: [flux-system]\n-- clusters/" + cluster + "/flux-system/kustomization.yaml --\nresources: [../../base/flux-system]\n" + change
	}
	merge := func(path string) string {
		return "patches:\n- patch: |\n    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    metadata: {name: flux-system, namespace: flux-system}\n    spec: {path: " + path + "}\n"
	}
	operation := "patches:\n- target: {kind: Kustomization}\n  patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"clusters/b\"}]'\n"
	for _, c := range []struct{ name, files, want string }{
		{"without a path", sync("") + overlay("a", merge("./clusters/a")) + overlay("b", merge("clusters/b")), "clusters/a clusters/b"},
		{"of nothing", sync("path: ./clusters/NAME, ") + overlay("a", merge("./clusters/a")) + overlay("b", operation), "clusters/a clusters/b"},
		{"the base has a path of its own", sync("path: ./clusters/base, ") + overlay("a", merge("./clusters/a")), "clusters/a"},
		{"the base is a cluster", strings.ReplaceAll(sync("path: ./clusters/base, ")+overlay("a", merge("./clusters/a")), "base", "eu"), "clusters/a clusters/eu"},
		{"the base lists the sync", sync("path: ./clusters/base, ") + "-- clusters/base/kustomization.yaml --\nresources: [flux-system]\n" + "-- clusters/a/kustomization.yaml --\nresources: [../base]\n" + merge("./clusters/a"), "clusters/a"},
		{"the file of the sync is listed", sync("path: ./clusters/base, ") + strings.ReplaceAll(overlay("a", merge("./clusters/a")), "../../base/flux-system", "../../base/flux-system/sync.yaml"), "clusters/a"},
		{"a path elsewhere", sync("path: ./clusters/base, ") + overlay("a", merge("./clusters/b")) + overlay("b", ""), "clusters/base"},
		{"no overlay changes it", sync("path: ./clusters/base, ") + overlay("a", ""), "clusters/base"},
	} {
		if got := rootsIn(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestBeside: a Kustomization that applies itself, and that a script applies, belongs to the cluster whose source it has, if that
// is one cluster's alone.
func TestBeside(t *testing.T) {
	ks := func(file, name, path, more string) string {
		return "-- " + file + " --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {path: " + path + ", prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: fleet}}\n" + more
	}
	source := "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n"
	one, two := ks("flux/a.yaml", "a", "./flux", source), ks("prod/flux/b.yaml", "b", "./prod/flux", "")
	const script = "-- hack/prod/deploy.sh --\nkubectl apply -f ../../prod/flux/b.yaml\n"
	for _, c := range []struct{ name, files, want string }{
		{"beside one", one + two + script, "a b"},
		{"no script applies it", one + two, "a"},
		{"a script deletes it", one + two + strings.Replace(script, "apply", "delete", 1), "a"},
		{"a comment of a script", one + two + strings.Replace(script, "kubectl", "# kubectl", 1), "a"},
		{"a script for a cluster of its own", one + two + script + "kind create cluster\n", "a"},
		{"of a name that the cluster has", one + strings.ReplaceAll(two, "name: b,", "name: a,") + script, "a"},
		{"something applies it", ks("flux/c.yaml", "c", "./prod", "") + one + two, "a c b"},
		{"another folder lists it", one + two + "-- other/kustomization.yaml --\nresources: [../prod/flux]\n" + script, "a"},
		{"without a namespace", one + strings.ReplaceAll(two, ", namespace: flux-system", "") + script, "a"},
		{"a template", one + ks("template/flux/b.yaml", "b", "./template/flux", ""), "a"},
		{"of another source", one + "-- prod/flux/b.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: b, namespace: flux-system}\nspec: {path: ./prod/flux, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: other}}\n", "a"},
		{"beside two of the same source", one + ks("eu/a.yaml", "a", "./eu", source) + two + script, "a"},
	} {
		var got string
		for _, k := range fleetOf(t, c.files).Clusters[0].Kustomizations {
			got += " " + k.Name
		}
		if got != " "+c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
