package reconcile

import (
	"strings"
	"testing"
)

// TestFoldersThatClustersReach: a folder that looks as if kubectl applies it once is no cluster of its own if a build of a
// cluster reaches it, or may reach it.
func TestFoldersThatClustersReach(t *testing.T) {
	source := func(namespace string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: " + namespace + "}\nspec: {interval: 1m, url: https://example.com/fleet}\n"
	}
	ks := func(name, path, more string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + "}\nspec: {interval: 1h, prune: true, path: \"" + path + "\", sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}" + more + "}\n"
	}
	in := func(namespace, ks string) string {
		return strings.Replace(ks, "metadata: {", "metadata: {namespace: "+namespace+", ", 1)
	}
	files := "-- prod/flux.yaml --\n" + source("flux-system") + "---\n" + in("flux-system", ks("prod", "./prod", "")) +
		"-- tenants/a/kustomization.yaml --\nresources: [source.yaml, apps.yaml]\n-- tenants/a/source.yaml --\n" + source("a") +
		"-- tenants/a/apps.yaml --\n" + strings.Replace(in("a", ks("apps", "./tenants/a/apps", "")), ", namespace: flux-system}", "}", 1) +
		"-- tenants/a/apps/a.yaml --\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a, namespace: a}\n"
	set := func(path, inputs string) string {
		return "-- prod/set.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: tenants, namespace: flux-system}\nspec:\n  " + inputs + "\n  resources:\n  - " +
			strings.ReplaceAll(strings.TrimSpace(in("flux-system", ks("tenant", path, ""))), "\n", "\n    ") + "\n"
	}
	const provided = "inputsFrom: [{kind: ResourceSetInputProvider, name: branches}]"
	variable := func(name string) string {
		return "-- prod/infra.yaml --\n" + in("flux-system", ks("infra", "./infra", ", postBuild: {substitute: {tenant: "+name+"}, substituteFrom: [{kind: ConfigMap, name: cluster}]}")) +
			"-- infra/tenant.yaml --\n" + in("flux-system", ks("tenant", "./tenants/${tenant}", ""))
	}
	for _, c := range []struct{ name, files, want string }{
		{"nothing reaches it", "", "tenants/a prod"},
		{"a ResourceSet", set("./tenants/<< inputs.tenant >>", "inputs: [{tenant: a}]"), "prod"},
		{"a ResourceSet for another one", set("./tenants/<< inputs.tenant >>", "inputs: [{tenant: b}]"), "tenants/a prod"},
		{"a ResourceSet whose inputs are unknown", set("./tenants/<< inputs.tenant >>", provided), "prod"},
		{"one that creates others", set("./sites/<< inputs.tenant >>", provided), "tenants/a prod"},
		{"a template whose inputs are unknown", strings.Replace(set("./tenants/<< inputs.tenant >>", provided), "resources:\n  - ", "resourcesTemplate: |\n    ", 1), "prod"},
		{"a variable", variable("a"), "prod"},
		{"a variable for another one", variable("b"), "tenants/a prod"},
		{"an unknown variable", strings.Replace(variable("a"), "tenant: a", "other: a", 1), "prod"},
		{"a patched path", "-- prod/kustomization.yaml --\nresources: [flux.yaml, tenant.yaml]\npatches: [{target: {name: tenant}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"./tenants/a\"}]'}]\n" +
			"-- prod/tenant.yaml --\n" + in("flux-system", ks("tenant", "./tenants/NAME", "")), "prod"},
		{"a folder around it, with a variable", strings.ReplaceAll(variable("tenants"), "./tenants/${tenant}", "./${tenant}"), "prod"},
	} {
		if got := rootsIn(t, files+c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
