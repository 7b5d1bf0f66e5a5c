package schema

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// A template with names in braces is no broken YAML where nothing applies it, and a Kustomization of all of an artifact does not
// apply the repository. Reproduces: lusoal/gitops-manifests-template.
func TestTemplatesWithNamesInBraces(t *testing.T) {
	t.Parallel()
	artifact := "-- clusters/a/ks.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: web, namespace: flux-system}\nspec: {interval: 1h, url: 'oci://example.com/web', ref: {tag: v1}}\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: ./, sourceRef: {kind: KIND, name: web}}\n"
	for _, c := range []struct {
		name, kind, text string
		want             int
	}{
		{"a name in braces", "OCIRepository", "metadata:\n  name: {TENANT_ID}-basic\n", 0},
		{"a mapping that is not closed", "OCIRepository", "metadata:\n  name: {TENANT_ID\n", 0},
		{"a name in braces that is applied", "GitRepository", "metadata:\n  name: {TENANT_ID}-basic\n", 1},
	} {
		files := artifact[:len(artifact)-len("KIND, name: web}}\n")] + c.kind + ", name: web}}\n-- tiers/basic.yaml --\napiVersion: v1\nkind: ConfigMap\n" + c.text
		found, unresolved := ruletest.Run(t, Invalid, files)
		if len(found) != c.want {
			t.Errorf("%s: found %+v, unresolved %+v", c.name, found, unresolved)
		}
	}
}
