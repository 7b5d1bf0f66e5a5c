package flux

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestCoverageOfTenants: Kustomizations with accounts of their own from another repository are a tenant's, and not counted,
// unless their folders are in this repository: then it rather has another name.
func TestCoverageOfTenants(t *testing.T) {
	for at, want := range map[string]int{"apps/base": 1, "apps": 0, "deploy/base": 0} {
		found := ruletest.Find(t, CoverageLow, `-- clusters/a/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./clusters/a, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/a/apps.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/apps}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./`+at+`, serviceAccountName: apps, sourceRef: {kind: GitRepository, name: apps}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./`+at+`, serviceAccountName: apps, sourceRef: {kind: GitRepository, name: apps}}
-- apps/base/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default}
`)
		if len(found) != want {
			t.Errorf("%s: found %v", at, found)
		}
	}
}
