package roots_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestNamespaceOfAKustomization: a sync without a namespace gets the one of its kustomization.
func TestNamespaceOfAKustomization(t *testing.T) {
	found := roots.Find(ruletest.Load(t, `-- clusters/a/flux-system/kustomization.yaml --
namespace: flux-system
resources: [sync.yaml]
-- clusters/a/flux-system/sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system}
spec: {interval: 1h, prune: true, path: ./clusters/a, sourceRef: {kind: GitRepository, name: flux-system}}
`), nil)
	if len(found) != 1 || found[0].Namespace != "flux-system" || found[0].Source.Namespace != "flux-system" {
		t.Errorf("found %+v", found)
	}
}
