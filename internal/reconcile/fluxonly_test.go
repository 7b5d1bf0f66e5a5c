package reconcile

import (
	"fmt"
	"strings"
	"testing"
)

// bringingChart is a chart with a template.
func bringingChart(name, template string) string {
	return fmt.Sprintf("-- charts/%[1]s/Chart.yaml --\napiVersion: v2\nname: %[1]s\nversion: 1.0.0\n-- charts/%[1]s/templates/all.yaml --\n%[2]s", name, template)
}

// TestBringing: only charts are rendered that may bring objects of Flux, by their files or by values; all, where one that
// may asks for kinds.
func TestBringing(t *testing.T) {
	const plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n---\n{{ tpl (.Values.extra | default \"\") . }}\n"
	const bringing = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: brought}\n"
	const asking = "{{ if .Capabilities.APIVersions.Has \"example.com/v1/Thing\" }}\n" + bringing + "{{ end }}\n"
	release := func(name, chart, values string) string {
		return fmt.Sprintf("-- clusters/prod/%[1]s.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %[1]s, namespace: flux-system}\nspec:\n"+
			"  interval: 1h\n  chart: {spec: {chart: ./charts/%[2]s, sourceRef: {kind: GitRepository, name: flux-system}}}\n  values: %[3]s\n", name, chart, values)
	}
	all := sources + bringingChart("plain", plain) + bringingChart("bringing", bringing) + release("plain", "plain", "{a: 1}") +
		release("bringing", "bringing", "{}") + release("values", "plain", `{extra: "{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, metadata: {name: extra}}"}`)
	for _, c := range []struct{ name, files, want string }{
		{"some", all, "bringing 1, plain 0, values 2"},
		{"a question", all + bringingChart("asking", asking) + release("asking", "asking", "{}"), "asking 0, bringing 1, plain 1, values 2"},
	} {
		repo := parsed(t, c.files)
		fleet, err := Reconcile(t.Context(), repo, Options{FluxOnly: true})
		if err != nil || len(fleet.Clusters) != 1 {
			t.Fatalf("%d clusters, %v", len(fleet.Clusters), err)
		}
		var got []string
		for _, r := range fleet.Clusters[0].Releases {
			if r.Chart == "" || r.failed() {
				t.Errorf("%s: %s: chart %q, %q, %v", c.name, r.Object.Name, r.Chart, r.Unknown, r.Failure)
			}
			got = append(got, fmt.Sprintf("%s %d", r.Object.Name, len(r.Objects)))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
