package reconcile

import (
	"strings"
	"testing"
)

// TestBrought: what another source or a submodule brings into the artifact is unknown, wherever it is named, and whichever
// source of the repository brings it.
func TestBrought(t *testing.T) {
	const modules = "-- .gitmodules --\n[submodule \"mod\"]\n\tpath = mod\n"
	const include = "include: [{repository: {name: shared}, toPath: lib}]"
	gits := func(more string) string {
		return strings.Replace(synced, "url: https://example.com/fleet}", "url: https://example.com/fleet, "+more+"}", 1)
	}
	second := "-- base/source.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: second, namespace: flux-system}\nspec: {interval: 1m, url: https://example.com/fleet, " + include + "}\n"
	patch := strings.Replace(synced, "resources: [sync.yaml, ../../base]\n", "resources: [sync.yaml, ../../base]\npatches:\n  - target: {kind: GitRepository}\n    patch: '[{\"op\": \"add\", \"path\": \"/spec/include\", \"value\": [{\"repository\": {\"name\": \"shared\"}, \"toPath\": \"lib\"}]}]'\n", 1)
	child := func(path, source string) string {
		return "-- base/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: child, namespace: flux-system}\nspec: {interval: 1m, prune: true, path: " + path + ", sourceRef: {kind: GitRepository, name: " + source + "}}\n" +
			"-- base/kustomization.yaml --\nresources: [ks.yaml, source.yaml]\n"
	}
	apps := func(fields string) string { return "-- apps/kustomization.yaml --\n" + fields + "\n" }
	for _, c := range []struct {
		name, files, gap, failure string
	}{
		{"a path", gits(include) + child("lib/x", "flux-system") + second, "includes it from GitRepository flux-system/shared", ""},
		{"a path, by a patch", patch + child("lib/x", "flux-system") + second, "includes it from GitRepository flux-system/shared", ""},
		{"a path, by the second source", synced + child("lib/x", "second") + second, "GitRepository flux-system/second includes it", ""},
		{"a path, by neither", synced + child("lib/x", "flux-system") + second, "", "does not exist"},
		{"a generator's file", gits(include) + child("apps", "flux-system") + second + apps("configMapGenerator: [{name: a, files: [../lib/f]}]"), "../lib/f", ""},
		{"a patch", gits(include) + child("apps", "flux-system") + second + apps("patches: [{path: ../lib/p.yaml}]"), "../lib/p.yaml", ""},
		{"a transformer", gits(include) + child("apps", "flux-system") + second + apps("transformers: [../lib/t.yaml]"), "../lib/t.yaml", ""},
		{"a submodule", gits("recurseSubmodules: true") + modules + child("mod/x", "flux-system") + second, "it is in submodule mod", ""},
		{"a submodule that is left out", synced + modules + child("mod/x", "flux-system") + second, "", "mod is a submodule, which source-controller leaves out"},
	} {
		repo := parsed(t, c.files)
		fleet, err := Reconcile(t.Context(), repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		k, ok := fleet.Clusters[0].Kustomization("flux-system", "child")
		if !ok {
			t.Errorf("%s: there is no child", c.name)
			continue
		}
		gap, failure := "", ""
		if len(k.Gaps) > 0 {
			gap = k.Gaps[0].Message
		}
		if k.Failure != nil {
			failure = k.Failure.Message
		}
		if (gap == "") != (c.gap == "") || !strings.Contains(gap, c.gap) || (failure == "") != (c.failure == "") || !strings.Contains(failure, c.failure) {
			t.Errorf("%s: gap %q, failure %q", c.name, gap, failure)
		}
	}
}
