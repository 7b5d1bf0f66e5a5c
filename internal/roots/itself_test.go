package roots_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// A Kustomization that applies its own folder is the root, although its source is not in the repository.
func TestRootIsItself(t *testing.T) {
	ks := func(file, name, at string) string {
		return "-- " + file + " --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {path: " + at + ", sourceRef: {kind: GitRepository, name: fleet}}\n"
	}
	rest := ks("gitops/flux/sources/ks.yaml", "sources", "/gitops/flux/sources") + ks("gitops/apps/ks.yaml", "apps", "./apps") + "-- apps/a.yaml --\n"
	for name, c := range map[string]struct{ files, want string }{
		"it applies its folder":   {ks("gitops/flux/cluster/ks.yaml", "fleet", "/gitops") + rest, "gitops fleet"},
		"it applies another one":  {ks("gitops/flux/cluster/ks.yaml", "fleet", "./none") + rest, "gitops/apps flux-system gitops/flux/cluster flux-system gitops/flux/sources sources"},
		"two that apply the same": {ks("gitops/flux/cluster/ks.yaml", "fleet", "/gitops") + ks("gitops/flux/cluster/b.yaml", "b", "/gitops") + rest, "gitops/flux/cluster flux-system"},
	} {
		got := ""
		for _, r := range roots.Find(ruletest.Load(t, c.files), nil) {
			got += " " + r.Path + " " + r.Name
		}
		if got != " "+c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
