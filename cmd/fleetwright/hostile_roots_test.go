//go:build hostile && unix

package main

import (
	"fmt"
	"path/filepath"
	"testing"
)

// rootBombs are repositories whose clusters, or the inputs of whose ResourceSets, take work to find.
func rootBombs() []hostileCase {
	instance := func(path string) string {
		return "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  distribution: {version: 2.x, registry: ghcr.io/fluxcd}\n" +
			"  sync: {kind: GitRepository, url: 'https://example.com/a.git', ref: refs/heads/main, path: '" + path + "'}\n"
	}
	return []hostileCase{
		{name: "variables of a path in large files", make: func(t *testing.T, repo, _ string) {
			files(map[string]string{
				"clusters/one/flux.yaml": instance("clusters/${CLUSTER}/apps"), "clusters/one/apps/a.yaml": configMap("a", "  b: c\n"),
				"vars/kustomization.yaml": "configMapGenerator:\n" + repeat(100, func(i int) string { return fmt.Sprintf("  - {name: v%d, envs: [v%d.env]}\n", i, i) }),
			})(t, repo, "")
			for i := range 100 {
				big(t, filepath.Join(repo, fmt.Sprintf("vars/v%d.env", i)), "", fmt.Sprintf("CLUSTER%d=x%d\n", i, i), 75_000)
			}
		}},
		{name: "paths with variables that fit many folders", make: func(t *testing.T, repo, _ string) {
			for i := range 20 {
				putFile(t, filepath.Join(repo, fmt.Sprintf("flux/f%d.yaml", i)), []byte(instance("${A}${B}/${C}${D}")))
			}
			for i := range 5_000 {
				putFile(t, filepath.Join(repo, fmt.Sprintf("x%d/a%d/a.yaml", i%100, i)), []byte("{}\n"))
			}
		}},
		{name: "many selectors of many input providers", want: []string{"more than 1000 references to input providers"}, make: files(map[string]string{
			"clusters/one/flux.yaml": instance("clusters/one"),
			"clusters/one/set.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: all, namespace: flux-system}\nspec:\n  inputsFrom:\n" +
				repeat(5_000, func(i int) string {
					return fmt.Sprintf("    - {kind: ResourceSetInputProvider, selector: {matchLabels: {x: y%d}}}\n", i)
				}) +
				"  resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: '<< inputs.provider.name >>', namespace: flux-system}}]\n",
			"clusters/one/providers.yaml": repeat(5_000, func(i int) string {
				return fmt.Sprintf("---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: p%d, namespace: flux-system, labels: {x: y%d, a: b}}\nspec: {type: Static, defaultValues: {a: b}}\n", i, i)
			}),
		})},
		{name: "many clusters without a root", make: func(t *testing.T, repo, _ string) {
			putFile(t, filepath.Join(repo, "clusters/one/flux.yaml"), []byte(instance("clusters/one")))
			for i := range 3_000 {
				putFile(t, filepath.Join(repo, fmt.Sprintf("clusters/c%d/ks.yaml", i)), []byte(fluxKs("app", "")))
				putFile(t, filepath.Join(repo, fmt.Sprintf("clusters/c%d/flux-system/gotk-sync.yaml", i)), []byte(fluxKs("flux-system", "")))
			}
			putFile(t, filepath.Join(repo, "clusters/one/ks.yaml"), []byte(fluxKs("app", "")))
		}},
	}
}
