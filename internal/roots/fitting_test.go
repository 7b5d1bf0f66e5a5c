package roots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestFitting: a FluxInstance whose sync.path holds a variable starts the clusters whose folders fit.
func TestFitting(t *testing.T) {
	instance := func(path string) string {
		return "-- apps/instance.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-instance}\nspec: {values: {instance: {sync: {kind: GitRepository, path: \"" + path + "\"}}}}\n"
	}
	substitute := func(value string) string {
		return "-- ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substitute: {CLUSTER: " + value + "}}}\n"
	}
	const folders = "-- clusters/a/flux/x.yaml --\na: 1\n-- clusters/b/flux/x.yaml --\na: 1\n-- clusters/c/apps/x.yaml --\na: 1\n"
	for _, c := range []struct{ files, want string }{
		{instance("clusters/${CLUSTER}/flux") + folders, "clusters/a/flux clusters/b/flux"},
		{instance("./clusters/${CLUSTER:=a}/flux/") + folders + substitute("b"), "clusters/b/flux"},
		{instance("clusters/${CLUSTER}/flux") + folders + substitute("c"), "clusters/a/flux clusters/b/flux"},
		{instance("clusters/${CLUSTER}/none") + folders, "clusters/${CLUSTER}/none"},
		{instance("${CLUSTER}") + folders, "${CLUSTER}"},
		{instance("${CLUSTER}") + folders + substitute("./clusters/a/flux"), "clusters/a/flux"},
		{instance("${CLUSTER}") + folders + "-- clusters/kustomization.yaml --\nconfigMapGenerator: [{name: a, envs: [../globals.env]}, {name: b, literals: [CLUSTER=clusters/b/flux]}]\n" +
			"-- globals.env --\n# of all\nCLUSTER=\"clusters/a/flux\"\n", "clusters/a/flux clusters/b/flux"},
		{instance("clusters/${CLUSTER}-(x/flux") + folders, "clusters/${CLUSTER}-(x/flux"},
	} {
		var got []string
		for _, r := range roots.Find(ruletest.Load(t, c.files), nil) {
			if got = append(got, r.Path); (r.Fits != "") != (!strings.Contains(r.Path, "$")) {
				t.Errorf("%s: the path that it fits is %q", r.Path, r.Fits)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("got %q, want %q of\n%s", text, c.want, c.files)
		}
	}
}

// TestFittingIsBounded: many FluxInstances with variables, or a path with many, start no more clusters than one may.
func TestFittingIsBounded(t *testing.T) {
	instances := func(n int, path string) string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, "-- apps/i%d.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-instance%d}\nspec: {values: {instance: {sync: {kind: GitRepository, path: \"%s\"}}}}\n", i, i, strings.Replace(path, "N", fmt.Sprint(i), 1))
		}
		for i := range 50 * 60 {
			fmt.Fprintf(&all, "-- c%d/c%d/x.yaml --\na: 1\n", i/60, i%60)
		}
		return all.String()
	}
	for _, c := range []struct {
		n, most int
		path    string
	}{{50, 150, "cN/${CLUSTER}"}, {1, 1, strings.Repeat("${A}", 100_000)}, {1, 1, "clusters/${A}" + strings.Repeat("x", 10_000)}} {
		if n := len(roots.Find(ruletest.Load(t, instances(c.n, c.path)), nil)); n > c.most {
			t.Errorf("%d FluxInstances with %.20q start %d clusters, more than %d", c.n, c.path, n, c.most)
		}
	}
}

// TestPatchedRoots: where a base has a variable in its path and each cluster's overlay patches that, the clusters start
// from the folders that the patches name; with a base without a variable, from the overlay that nothing else lists. What a
// bootstrap says comes first.
func TestPatchedRoots(t *testing.T) {
	ks := func(file, path, more string) string {
		return "-- " + file + " --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: \"" + path + "\"" + more + "}\n"
	}
	const source = ", sourceRef: {kind: GitRepository, name: flux-config}"
	overlay := func(cluster, path string) string {
		return "-- clusters/" + cluster + "/kustomization.yaml --\nresources: [../../apps/base]\npatches: [{path: ../../apps/" + cluster + "/patch.yaml}]\n" + ks("apps/"+cluster+"/patch.yaml", path, "")
	}
	base := func(path string) string {
		return "-- apps/base/kustomization.yaml --\nresources: [ks.yaml]\n" + ks("apps/base/ks.yaml", path, source)
	}
	for name, c := range map[string]struct{ files, want string }{
		"each cluster":     {base("./clusters/${CLUSTER}") + overlay("a", "./clusters/a") + overlay("b", "./clusters/b"), "clusters/a clusters/b"},
		"one that is gone": {base("./clusters/${CLUSTER}") + overlay("a", "./clusters/a") + overlay("b", "./clusters/c"), "clusters/a"},
		"no variable":      {base("./clusters/a") + overlay("a", "./clusters/a"), "clusters/a"},
	} {
		var got []string
		for _, r := range roots.Find(ruletest.Load(t, c.files), nil) {
			got = append(got, r.Path)
			if name != "no variable" && (r.Source != roots.Source{Kind: "GitRepository", Namespace: "flux-system", Name: "flux-config"}) {
				t.Errorf("%s: the source is %v", name, r.Source)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}
