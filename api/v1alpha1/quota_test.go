package v1alpha1

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestQuotaFits holds a default against the other half of it that is given.
func TestQuotaFits(t *testing.T) {
	for _, test := range []struct {
		name             string
		given            map[string]string
		requests, limits string
	}{
		{"nothing", nil, "4", "8"},
		{"requests within", map[string]string{"requests.cpu": "6"}, "6", "8"},
		{"requests beyond", map[string]string{"requests.cpu": "16"}, "16", "16"},
		{"limits below", map[string]string{"limits.cpu": "1500m"}, "1500m", "1500m"},
		{"both", map[string]string{"requests.cpu": "1", "limits.cpu": "2"}, "1", "2"},
		{"not a quantity", map[string]string{"requests.cpu": "lots"}, "lots", "8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			quota := over(test.given, fittingQuota(test.given, Quantities(resource.ParseQuantity).more))
			if quota["requests.cpu"] != test.requests || quota["limits.cpu"] != test.limits {
				t.Errorf("requests %s, limits %s, want %s and %s", quota["requests.cpu"], quota["limits.cpu"], test.requests, test.limits)
			}
		})
	}
}
