package flux

import (
	"strings"
	"testing"
)

// TestMissingKeys holds for which keys of an object that is there a reference fails, as
// ChartValuesFromReferences of github.com/fluxcd/pkg/chartutil does.
func TestMissingKeys(t *testing.T) {
	t.Parallel()
	object := func(kind, more string) string {
		return "-- clusters/prod/values.yaml --\napiVersion: v1\nkind: " + kind +
			"\nmetadata: {name: podinfo-values, namespace: flux-system, labels: {reconcile.fluxcd.io/watch: Enabled}" + more + "}\ndata: {a.yaml: \"\"}\n"
	}
	release := fluxSync + podinfoRelease("podinfo-values\n      valuesKey: b.yaml")
	optional := fluxSync + podinfoRelease("podinfo-values\n      valuesKey: b.yaml\n      optional: true")
	secret := func(files string) string { return strings.ReplaceAll(files, "kind: ConfigMap\n", "kind: Secret\n") }
	for _, c := range []struct{ name, files, want string }{
		{"of a ConfigMap", release + object("ConfigMap", ""), "flux-values-reference-missing"},
		{"of an optional reference to a ConfigMap", optional + object("ConfigMap", ""), ""},
		{"of a Secret", secret(release) + object("Secret", ""), "flux-values-reference-missing"},
		{"of an optional reference to a Secret", secret(optional) + object("Secret", ""), ""},
		{"that a controller generates", secret(release) + object("Secret", ", annotations: {secret-generator.v1.mittwald.de/autogenerate: b.yaml}"), "[flux-values-reference-missing]"},
		{"that a controller copies", release + object("ConfigMap", ", annotations: {reflector.v1.k8s.emberstack.com/reflects: a/b}"), "[flux-values-reference-missing]"},
		{"of an object with another annotation", release + object("ConfigMap", ", annotations: {kustomize.toolkit.fluxcd.io/copy: a}"), "flux-values-reference-missing"},
	} {
		if got := outcome(t, c.files); got != c.want {
			t.Errorf("a key %s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Two syncs of one cluster, of which one was moved into the folder of the other one, are one cluster:
// what only the outer one applies is not missing. Two clusters are told apart as before.
func TestSyncsOfOneCluster(t *testing.T) {
	t.Parallel()
	inner := strings.ReplaceAll(fluxSync, "clusters/prod", "clusters/prod/cluster")
	release := strings.ReplaceAll(podinfoIn("a", ""), "clusters/prod", "apps")
	apps := strings.ReplaceAll(kustomization("apps", ""), "clusters/prod", "clusters/prod/cluster")
	outer := func(resources string) string {
		return "-- clusters/prod/kustomization.yaml --\nresources: [flux-system/gotk-sync.yaml, source.yaml" + resources + "]\n"
	}
	source := podinfoSource
	for _, c := range []struct{ name, files, want string }{
		{"the outer one applies all that the inner one does", fluxSync + outer(", cluster/apps.yaml") + inner + apps + source + release, ""},
		{"the outer one applies something else", fluxSync + outer("") + inner + apps + source + release, "flux-source-missing"},
		{"they are beside each other", fluxSync + outer(", ../test/apps.yaml") + strings.ReplaceAll(inner+apps, "clusters/prod/cluster", "clusters/test") + source + release, "flux-source-missing"},
	} {
		if got := outcome(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
