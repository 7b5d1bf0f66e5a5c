package roots_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// What a FluxInstance makes is named after its namespace, as the Flux Operator does, which the file itself may not hold.
func TestInstanceNamespace(t *testing.T) {
	release := func(metadata, spec string) string {
		return "-- ops/flux/app/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-instance" + metadata + "}\nspec: {" + spec + "values: {instance: {sync: {kind: GitRepository, path: cluster}}}}\n-- cluster/a.yaml --\n"
	}
	step := "-- ops/flux/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux}\nspec: {path: ./ops/flux/app, targetNamespace: ops}\n"
	for name, c := range map[string]struct{ files, want string }{
		"nothing says":              {release("", ""), "flux-system/flux-system"},
		"the HelmRelease's":         {release(", namespace: gitops", ""), "gitops/gitops"},
		"its target":                {release(", namespace: gitops", "targetNamespace: ops, "), "ops/ops"},
		"that of its Kustomization": {release("", "") + step, "ops/ops"},
		"that of its kustomization": {release("", "") + "-- ops/kustomization.yaml --\nnamespace: ops\nresources: [flux/app/release.yaml]\n", "ops/ops"},
		"a file of values":          {step + "-- ops/flux/app/values.yaml --\ninstance: {sync: {path: cluster, name: main}}\n-- cluster/a.yaml --\n", "ops/main"},
	} {
		found := roots.Find(ruletest.Load(t, c.files), nil)
		if len(found) != 1 || found[0].Namespace+"/"+found[0].Name != c.want || found[0].Source.Name != found[0].Name {
			t.Errorf("%s: got %+v, want %s", name, found, c.want)
		}
	}
}
