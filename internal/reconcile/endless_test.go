package reconcile

import "testing"

// TestAliasInItself: the file with an alias that contains itself is the reason of a failed build, and kustomize is not asked.
func TestAliasInItself(t *testing.T) {
	fleet := fleetOf(t, `-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./clusters/prod, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/prod/kustomization.yaml --
resources: [flux-system/gotk-sync.yaml, bomb.yaml]
-- clusters/prod/bomb.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: bomb}
data: &a
  x: *a
`)
	f := fleet.Clusters[0].Kustomizations[0].Failure
	if f == nil || f.File != "clusters/prod/bomb.yaml" || f.Line != 5 || f.Message != `the alias "*a" contains itself` {
		t.Errorf("the failure is %+v", f)
	}
}
