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

// TestGuessedRootOfANamespacedSource: the Kustomizations of a cluster and of its applications are from one source, whether
// their kustomization sets its namespace or their files do.
func TestGuessedRootOfANamespacedSource(t *testing.T) {
	found := roots.Find(ruletest.Load(t, `-- sites/a/start/kustomization.yaml --
namespace: flux-system
resources: [sync.yaml]
-- sites/a/start/sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps}
spec: {interval: 1h, prune: true, path: ./sites/a/apps, sourceRef: {kind: GitRepository, name: fleet}}
-- sites/a/apps/kustomization.yaml --
resources: [one.yaml, two.yaml]
-- sites/a/apps/one.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: one, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./common/one, sourceRef: {kind: GitRepository, name: fleet}}
-- sites/a/apps/two.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: two, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./common/two, sourceRef: {kind: GitRepository, name: fleet}}
-- common/one/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: default}
-- common/two/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: two, namespace: default}
`), nil)
	if len(found) != 1 || found[0].Path != "sites/a/start" || found[0].Source.Namespace != "flux-system" {
		t.Errorf("found %+v", found)
	}
}

// TestRenamedRepository: a source whose paths all exist is the repository itself, also if it was renamed.
func TestRenamedRepository(t *testing.T) {
	sync := func(name, at string) string {
		return `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ` + name + `, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ` + at + `, sourceRef: {kind: GitRepository, name: fleet}}
`
	}
	tree := func(third string) string {
		return `-- clusters/a/kustomization.yaml --
resources: [fleet.yaml, apps.yaml]
-- clusters/a/fleet.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/acme/fleet}
-- clusters/a/apps.yaml --
` + sync("one", "./one") + sync("two", "./two") + sync("three", third) + "-- one/a.yaml --\n-- two/a.yaml --\n-- three/a.yaml --\n"
	}
	for third, want := range map[string]string{"./three": "fleet", "./elsewhere": ""} {
		found := roots.Find(ruletest.Load(t, tree(third)), []string{"https://example.com/acme/fleet-archive"})
		if len(found) != 1 || found[0].Source.Name != want {
			t.Errorf("with %s, found %+v", third, found)
		}
	}
}
