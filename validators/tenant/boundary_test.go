package tenant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

// TestSourceOfAnObjectWithoutNamespace names the namespaces of the tenant, one of which is the object's.
func TestSourceOfAnObjectWithoutNamespace(t *testing.T) {
	t.Parallel()
	const files = `-- .fleetwright-tenant.yaml --
apiVersion: fleetwright.dev/v1alpha1
kind: TenantBoundary
metadata: {name: shop, annotations: {config.kubernetes.io/local-config: "true"}}
spec:
  paths: [production]
  namespaces: [shop, shop-db]
  syncNamespace: shop-flux
  serviceAccountName: shop-helm
  kinds:
    - {apiGroups: [helm.toolkit.fluxcd.io], resources: [helmreleases]}
-- production/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop}
spec: {interval: 1h, serviceAccountName: shop-helm, chartRef: {kind: OCIRepository, name: shop, namespace: %s}}
`
	for namespace, want := range map[string]string{"flux-system": "declare the source in namespace shop or shop-db", "shop-db": ""} {
		got := ""
		for _, f := range ruletest.Find(t, tenant.Boundary, fmt.Sprintf(files, namespace)) {
			if strings.Contains(f.Message, "uses a source") {
				got = f.Hint
			}
		}
		if got != want {
			t.Errorf("a source in namespace %s: got the hint %q, want %q", namespace, got, want)
		}
	}
}
