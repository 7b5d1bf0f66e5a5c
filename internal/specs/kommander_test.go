package specs

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// The certificate authority stands where cert-manager reads it, whatever the namespace of its add-on
// and what the values make of that.
func TestRootCAStandsBesideCertManager(t *testing.T) {
	const product = `
apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata: {name: fleet}
spec: {repository: {url: https://git.example.com/fleet.git}, flux: {install: bootstrap}, multiTenancy: {lockdown: false}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: management}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: shop}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Kommander
metadata: {name: management}
spec:
  version: 2.4.0
  cluster: management
  rootCA: {ROOTCA}
  gatekeeper: {version: 3.10.0}
  appManagement: {version: 0.4.0}
  definitions:
  - {name: gatekeeper, chart: {url: https://example.com/charts, version: 3.10.0}}
  - {name: kommander-appmanagement, chart: {url: https://example.com/charts, version: 0.4.0}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: cert-manager}
spec: {namespace: cert-mgr, chart: {CHART, version: v1.21.1}, MORE}
`
	const oci, named = "url: 'oci://quay.io/jetstack/charts/cert-manager'", "url: 'https://charts.jetstack.io'"
	for name, test := range map[string]struct{ given, chart, more, want string }{
		"of an OCI chart":     {"", oci, "", "cert-mgr"},
		"of a repository":     {"", named, "", "cert-mgr"},
		"another chart":       {"", "url: 'oci://example.com/certs'", "", "cert-manager"},
		"on another cluster":  {"", oci, "clusters: {names: [shop]}", "cert-manager"},
		"pods elsewhere":      {"", oci, "values: {namespace: certificates}", "certificates"},
		"told by values":      {"", oci, "values: {namespace: certificates, clusterResourceNamespace: issuers}", "issuers"},
		"overridden":          {"", oci, "overrides: [{clusters: {names: [management]}, values: {clusterResourceNamespace: issuers}}]", "issuers"},
		"the same":            {"namespace: cert-mgr", oci, "", "cert-mgr"},
		"told by arguments":   {"namespace: issuers", oci, "values: {extraArgs: [--cluster-resource-namespace=issuers]}", "issuers"},
		"told by a variable":  {"namespace: issuers", oci, "values: {clusterResourceNamespace: '${CLUSTER_NAME}'}", "issuers"},
		"default of variable": {"", oci, "values: {clusterResourceNamespace: '${CLUSTER_NAME}'}", "cert-mgr"},
	} {
		text := strings.NewReplacer("ROOTCA", test.given, "CHART", test.chart, "MORE", test.more).Replace(product)
		spec, err := Load([]File{{Path: "fleet.yaml", Content: []byte(text)}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := v1alpha1.ProductOf[*v1alpha1.Kommander](spec).Spec.RootCA.Namespace; got != test.want {
			t.Errorf("%s: namespace %s, want %s", name, got, test.want)
		}
	}
}
