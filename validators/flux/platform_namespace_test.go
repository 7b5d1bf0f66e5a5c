package flux

import (
	"fmt"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// The installer of a platform creates its namespaces, unless a HelmRelease in Git installs the platform.
func TestPlatformNamespaces(t *testing.T) {
	t.Parallel()
	const files = `-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "https://example.com/fleet.git", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/prod/platform.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: Credential
metadata: {name: aws, namespace: kcm-system}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec: {interval: 1h, url: "https://example.com/charts"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: %[2]s}
spec: {interval: 1h, targetNamespace: kcm-system, chart: {spec: {chart: %[1]s, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}}
`
	for _, c := range []struct {
		chart, namespace string
		missing          bool
	}{{"kcm", "flux-system", true}, {"kcm", "kcm-system", true}, {"own", "kcm-system", false}, {"own", "flux-system", false}} {
		found, _ := ruletest.Run(t, NamespaceMissing, fmt.Sprintf(files, c.chart, c.namespace))
		if (len(found) > 0) != c.missing {
			t.Errorf("chart %s in %s: found %v, want missing: %v", c.chart, c.namespace, found, c.missing)
		}
	}
}
