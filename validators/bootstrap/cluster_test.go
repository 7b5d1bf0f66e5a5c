package bootstrap_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/bootstrap"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// clustersOf are the names of the clusters in what a run of a rule finds.
func clustersOf(t *testing.T, files, cluster string) string {
	t.Helper()
	content := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(files)).Files {
		content[f.Name] = f.Data
	}
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := rule.Run(t.Context(), repo, []rule.Rule{bootstrap.VersionDrift}, rule.RunOptions{Cluster: cluster})
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, f := range out.Findings {
		names = append(names, f.Cluster)
	}
	return strings.Join(names, " ")
}

// TestOneNameForACluster: what the path of a bootstrap calls a cluster is told by the cluster's own
// name, and --cluster takes both.
func TestOneNameForACluster(t *testing.T) {
	files := func(dir string) string {
		files := strings.ReplaceAll(repo, "bootstrap/eu/", dir+"/bootstrap/")
		return strings.ReplaceAll(files, "clusters/eu/app.yaml", dir+"/flux/app.yaml") + "-- " + dir + `/flux/sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, prune: true, path: ` + dir + `/flux, sourceRef: {kind: GitRepository, name: flux-system}}
`
	}
	alone, both := files("kubernetes/main"), files("kubernetes/main")+files("kubernetes/test")
	for _, c := range []struct{ name, files, cluster, want string }{
		{"one", alone, "", "flux"},
		{"one by its name", alone, "flux", "flux"},
		{"one by the bootstrap's", alone, "main", "flux"},
		{"of two", both, "", "main test"},
		{"of two by name", both, "main", "main"},
		{"of two by path", both, "kubernetes/test/flux", "test"},
		{"of two by what both have", both, "flux", `there is no cluster "flux"`},
		{"one that no cluster is named by", strings.ReplaceAll(alone, "kubernetes/main/bootstrap", "other/bootstrap"), "flux", "flux"},
	} {
		if got := clustersOf(t, c.files, c.cluster); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
