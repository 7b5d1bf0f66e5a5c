package roots_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// What flux bootstrap wrote starts a cluster in a folder that holds another repository's files, too, and none in a template.
func TestRootsInside(t *testing.T) {
	sync := func(dir, at string) string {
		return "-- " + dir + "/flux-system/gotk-sync.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: " + at + ", sourceRef: {kind: GitRepository, name: flux-system}}\n"
	}
	for name, c := range map[string]struct{ files, want string }{
		"the repository's own":                {sync("clusters/eu", "./clusters/eu"), "clusters/eu in ."},
		"a folder with a repository's files":  {sync("repos/fleet/clusters/eu", "./clusters/eu"), "repos/fleet/clusters/eu in repos/fleet"},
		"two of them":                         {sync("a/clusters/eu", "./clusters/eu") + sync("b/clusters/eu", "./clusters/eu"), "a/clusters/eu in a, b/clusters/eu in b"},
		"a path that is nowhere":              {sync("a/clusters/eu", "./clusters/us"), "a/clusters/eu in a"},
		"a template beside it":                {sync("clusters/eu", "./clusters/eu") + sync("tmpl/eu", "./tmpl/eu") + sync("{{cookiecutter.name}}/x", "'./{{cookiecutter.name}}/x'"), "clusters/eu in ."},
		"a template that applies the cluster": {sync("clusters/eu", "./clusters") + sync("tmpl/clusters/eu", "./clusters"), "clusters in ."},
		"nothing but a template":              {sync("clusters/template", "./clusters/template"), "clusters/template in ."},
	} {
		var got []string
		for _, r := range roots.Find(ruletest.Load(t, c.files), nil) {
			got = append(got, strings.TrimSuffix(r.Path, "/flux-system")+" in "+r.Base)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}
