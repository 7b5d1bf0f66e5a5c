//go:build hostile

package flux

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// TestCostGrowsWithTheRepository runs the rules over a repository in which everything is
// wrong: names that come near to many others, and one long circle. What it takes to build the
// repository doesn't count.
func TestCostGrowsWithTheRepository(t *testing.T) {
	took := func(n int) time.Duration {
		repo := wrongRepository(t, n)
		shared := rule.NewShared(rule.Options{})
		var total time.Duration
		for i := range rules {
			p := rule.NewPass(t.Context(), &rules[i], repo, shared)
			if len(p.Fleet().Clusters) != 1 || len(p.Fleet().Clusters[0].Kustomizations) < n {
				t.Fatal("the Kustomizations are not reached")
			}
			start := time.Now()
			rules[i].Run(p)
			spent := time.Since(start)
			found, _, _ := p.Results()
			t.Logf("%d: %s: %d findings in %v", n, rules[i].ID, len(found), spent)
			total += spent
		}
		return total
	}
	var small, large time.Duration
	for range 3 { // what else goes on only adds to it
		if small, large = took(100), took(500); large <= 15*small+time.Second {
			return
		}
	}
	t.Errorf("5 times the objects cost %v in place of %v", large, small)
}

// wrongRepository has n Kustomizations that are wrong in every way.
func wrongRepository(t *testing.T, n int) *repository.Repository {
	t.Helper()
	const group = 50
	content := map[string][]byte{"setup.sh": []byte(strings.Repeat("echo var-1 ", 100_000))}
	for name, data := range filesOf(fluxSync + podinfoNamespace) {
		content[name] = data
	}
	for i := range n {
		dir := fmt.Sprintf("group-%d", i/group)
		if i%group == 0 {
			for name, data := range filesOf(kustomization(dir, "")) {
				content[name] = data
			}
		}
		content[fmt.Sprintf("%s/%d.yaml", dir, i)] = fmt.Appendf(nil, "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app-%d, namespace: flux-system}\n"+
			"spec: {path: ./apps, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}, dependsOn: [{name: app-%d}, {name: ap-%d}],\n"+
			"  postBuild: {substitute: {A%d: b}, substituteFrom: [{kind: ConfigMap, name: var-%d}]}}\n"+
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars-%d, namespace: flux-system}\n"+
			"---\napiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: release-%d, namespace: flux-system}\n"+
			"spec: {chartRef: {kind: OCIRepository, name: sourc-%d}, targetNamespace: x, valuesFrom: [{kind: ConfigMap, name: vars-%d}]}\n"+
			"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: source-%d, namespace: flux-system}\nspec: {url: oci://example.com}\n",
			i, (i+1)%n, i, i, i, i, i, i, i, i)
	}
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func filesOf(archive string) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		files[f.Name] = f.Data
	}
	return files
}
