package flux

import (
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
