package bootstrap_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/bootstrap"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
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
	out, err := rule.Run(t.Context(), repo, rule.Options{Rules: []rule.Rule{bootstrap.VersionDrift}, Cluster: cluster})
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
	t.Parallel()
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
		{"one", alone, "", "main"},
		{"one by its folder", alone, "flux", "main"},
		{"one by its name", alone, "main", "main"},
		{"of two", both, "", "main test"},
		{"of two by name", both, "main", "main"},
		{"of two by path", both, "kubernetes/test/flux", "test"},
		{"of two by what both have", both, "flux", `cluster "flux" does not exist`},
		{"one that no cluster is named by", strings.ReplaceAll(alone, "kubernetes/main/bootstrap", "other/bootstrap"), "flux", "main"},
	} {
		if got := clustersOf(t, c.files, c.cluster); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestOneMistakeOfSeveralClusters: what several clusters have wrong in one line is one finding, with
// their names where others don't have it.
func TestOneMistakeOfSeveralClusters(t *testing.T) {
	t.Parallel()
	cluster := func(name string, drifts bool) string {
		files := "-- clusters/" + name + `/sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, prune: true, path: clusters/` + name + `, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/` + name + `/kustomization.yaml --
resources: [sync.yaml, ../../base]
`
		if drifts {
			files += "-- bootstrap/" + name + "/helmfile.yaml --\nreleases:\n  - {name: app, namespace: a, chart: oci://ghcr.io/charts/app, version: 1.0.1, values: [../common.yaml]}\n"
		}
		return files
	}
	base := "-- bootstrap/common.yaml --\nreplicas: 2\n-- base/kustomization.yaml --\nresources: [app.yaml]\n-- base/app.yaml --\n" + strings.NewReplacer("    adminPassword: hunter3\n", "", "  valuesFrom:\n    - {kind: Secret, name: app}\n", "").Replace(strings.SplitAfter(repo, "-- clusters/eu/app.yaml --\n")[1])
	for _, c := range []struct{ name, files, want string }{
		{"both", cluster("eu", true) + cluster("us", true), `release "app": values.replicas is 2 in the bootstrap and 1 in Git (base/app.yaml:7)`},
		{"two of three", cluster("eu", true) + cluster("us", true) + cluster("test", false), `release "app": values.replicas is 2 in the bootstrap and 1 in Git (base/app.yaml:7) (clusters eu, us)`},
		{"one of two", cluster("eu", true) + cluster("us", false), `release "app": values.replicas is 2 in the bootstrap and 1 in Git (base/app.yaml:7)`},
	} {
		found := ruletest.Find(t, bootstrap.ValuesDrift, c.files+base)
		if len(found) != 1 || found[0].Message != c.want || found[0].File != "bootstrap/common.yaml" || (found[0].Cluster == "") != (c.name != "one of two") {
			t.Errorf("%s: got %+v", c.name, found)
		}
	}
}
