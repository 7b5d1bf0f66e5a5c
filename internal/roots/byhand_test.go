package roots_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// A file for kubectl apply beside the kustomization of the folder that it syncs starts the cluster, not the
// Kustomizations below that the kustomization lists.
// Reproduces: deepak-muley/dm-nkp-gitops-infra, in which no AppDeployment of the management cluster was checked.
func TestRootsAppliedByHand(t *testing.T) {
	file := func(at, to string) string {
		return "-- " + at + "/bootstrap.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: gitops, namespace: kommander}\nspec: {url: https://example.com/infra}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: clusterops, namespace: kommander}\nspec: {path: " + to + ", sourceRef: {kind: GitRepository, name: gitops}}\n"
	}
	below := "-- az1/management/kustomization.yaml --\nresources: [workspaces/ks.yaml]\n" +
		"-- az1/management/workspaces/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: workspaces, namespace: ops}\nspec: {path: ./az1/management/workspaces, sourceRef: {kind: GitRepository, name: gitops, namespace: kommander}}\n" +
		"-- az1/management/workspaces/kustomization.yaml --\nresources: [workspace.yaml]\n" +
		"-- az1/management/workspaces/workspace.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: dev}\n"
	workload := file("az1/workload", "./az1/workload") + "-- az1/workload/namespace.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: dev}\n"
	for name, c := range map[string]struct{ files, want string }{
		"the management cluster's":     {file("az1/management", "./az1/management"), "az1/management"},
		"beside a workload cluster's":  {file("az1/management", "./az1/management") + workload, "az1/management, az1/workload"},
		"beside one of all":            {file("az1/management", "./az1/management") + file(".", "./") + "-- kustomization.yaml --\nresources: [az1/management/workspaces/ks.yaml]\n", "az1/management"},
		"one of a folder of nothing":   {file("az1/management", "./az1/management") + file("az2", "./az2") + "-- az2/kustomization.yaml --\nresources: []\n", "az1/management"},
		"one of another folder":        {file("az1/management", "./az1/other"), "az1/management/workspaces"},
		"one in a folder of templates": {file("templates/az1", "./templates/az1") + "-- templates/az1/kustomization.yaml --\nresources: [a.yaml]\n", "az1/management/workspaces"},
	} {
		var got []string
		for _, r := range roots.Find(ruletest.Load(t, below+strings.ReplaceAll(c.files, "-- ./", "-- ")), nil) {
			got = append(got, r.Path)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}
