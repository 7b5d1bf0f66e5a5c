package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestOverlapWithRepository: the top folder is guessed to be a cluster's, and somebody applies its files by hand rather than
// the whole repository, unless a kustomization says otherwise.
func TestOverlapWithRepository(t *testing.T) {
	files := `-- apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: edge}
spec: {interval: 1h, prune: true, path: ./base, sourceRef: {kind: GitRepository, name: fleet}}
-- base/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default}
`
	if found := ruletest.Find(t, PathOverlap, files); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found := ruletest.Find(t, PathOverlap, files+"-- kustomization.yaml --\nresources: [apps.yaml, base/a.yaml]\n"); len(found) != 1 {
		t.Errorf("with a kustomization: %+v", found)
	}
}

// TestOverlapWithRootByHand: kubectl applies a folder once that creates the cluster's own source, which a Kustomization then
// takes over.
// Reproduces: k8s/clusters/cluster-0 of tvories/k8s-gitops.
func TestOverlapWithRootByHand(t *testing.T) {
	const source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: NAME, namespace: flux-system}\nspec: {interval: 1h, url: https://example.com/fleet}\n"
	const files = `-- prod/kustomization.yaml --
resources: [git/fleet.yaml, deploy.yaml]
-- prod/deploy.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: sources, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./prod/git, sourceRef: {kind: GitRepository, name: fleet}}
-- prod/git/kustomization.yaml --
resources: [fleet.yaml]
-- prod/git/fleet.yaml --
`
	if found := ruletest.Find(t, PathOverlap, files+strings.ReplaceAll(source, "NAME", "fleet")); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found := ruletest.Find(t, PathOverlap, files+strings.ReplaceAll(source, "NAME", "else")); len(found) != 1 {
		t.Errorf("a source that the folder does not create: %+v", found)
	}
}
