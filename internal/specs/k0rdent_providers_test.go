package specs

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// A provider whose name is near that of one of kcm's charts is a slip of the pen where the charts are
// kcm's own, and may be another one where they come from elsewhere; nor is one whose name is further off.
func TestProvidersOfOnesOwn(t *testing.T) {
	spec := func(chartsURL, provider string) []File {
		return []File{{Path: "fleet.yaml", Content: []byte(claimsFleet + `apiVersion: fleetwright.dev/v1alpha1
kind: K0rdent
metadata: {name: k}
spec:
  version: 1.11.4
  cluster: mgmt
  chartsURL: ` + chartsURL + `
  capi: {version: 1.1.15}
  providers:
    - {name: ` + provider + `, version: 1.0.0}
`)}}
	}
	for _, c := range []struct{ chartsURL, provider, want string }{
		{v1alpha1.K0rdentCharts, "cluster-api-provider-azur", `did you mean "cluster-api-provider-azure"?`},
		{"oci://registry.example.com/charts", "cluster-api-provider-azur", ""},
		{v1alpha1.K0rdentCharts, "cluster-api-provider-hetzner", ""},
		{v1alpha1.K0rdentCharts, "cluster-api-provider-gcp", ""},
	} {
		_, err := Load(spec(c.chartsURL, c.provider))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %s: %v", c.provider, c.chartsURL, err)
		}
	}
}
