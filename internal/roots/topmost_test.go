package roots

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestGuessedRoots: where no sync is in Git, the clusters are the folders of the Kustomizations that
// no other one applies, whatever source a Kustomization that is applied names.
func TestGuessedRoots(t *testing.T) {
	of := func(file, source, at string) string {
		name := strings.NewReplacer("/", "-", ".yaml", "").Replace(file)
		return "-- " + file + " --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {path: '" + at + "', prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: " + source + "}}\n"
	}
	git := func(file, name string) string {
		return "-- " + file + " --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {url: 'https://example.com/" + name + "'}\n"
	}
	const files = "-- x/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: x}\n"
	apps := of("clusters/prod/apps.yaml", "fleet", "./apps")
	for _, c := range []struct{ name, files, want string }{
		{"a misspelt source without a path", apps + of("apps/a/k.yaml", "taem", "") + git("apps/a/git.yaml", "team"), "clusters/prod"},
		{"two steps below", apps + of("apps/a.yaml", "fleet", "./a") + of("a/k.yaml", "taem", ""), "clusters/prod"},
		{"a path of another repository that is here, too", apps + of("apps/b.yaml", "fleet", "./x") + of("apps/a/k.yaml", "team", "./clusters"), "clusters/prod"},
		{"a misspelt source of a parent", apps + of("apps/a.yaml", "flete", "./a") + of("a/x.yaml", "fleet", "./x") + of("a/y.yaml", "fleet", "./x"), "clusters/prod"},
		{"a misspelt source where the repository's is in Git", apps + git("clusters/prod/git.yaml", "fleet") + of("clusters/prod/x.yaml", "fleet", "./x") + of("apps/a/k.yaml", "wrong", "./x"), "clusters/prod"},
		{"a sync of its own folder that another one brings", apps + of("apps/a/k.yaml", "team", "./apps/a") + git("apps/a/git.yaml", "team"), "clusters/prod"},
		{"a base that a cluster's kustomization lists", of("clusters/prod/apps.yaml", "fleet", "./apps/prod") + "-- apps/prod/kustomization.yaml --\nresources: [../base]\n" +
			"-- apps/base/kustomization.yaml --\nresources: [k.yaml]\n" + of("apps/base/k.yaml", "wrong", ""), "clusters/prod"},
		{"two that apply each other", of("a/k.yaml", "fleet", "./b") + of("b/k.yaml", "fleet", "./a"), "a b"},
		{"two clusters", apps + of("clusters/test/apps.yaml", "fleet", "./apps"), "clusters/prod clusters/test"},
	} {
		repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
			for _, f := range txtar.Parse([]byte(c.files + files)).Files {
				if !yield(f.Name, f.Data) {
					return
				}
			}
		}, repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range Find(repo, nil) {
			got = append(got, r.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
