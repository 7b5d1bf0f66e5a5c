package schemas_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/schemas"
)

func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		name, known string
		want        bool
	}{
		{"infra-config", "infra-configs", true},
		{"flux-systen", "flux-system", true},
		{"cluster-setitngs", "cluster-settings", true},
		{"pod-info", "podinfo", true},
		{"kube-systm", "kube-system", true},
		{"Flux-System", "flux-system", false},
		{"flux-system", "flux-system", false},
		{"team-a", "team-b", false},
		{"prod-eu", "prod-us", false},
		{"monitoring-1", "monitoring-2", false},
		{"monitoring2", "monitoring", false},
		{"apps", "app", false},
		{"dns-internal", "dns-external", false},
		{"", "x", false},
		{"a", "", false},
	} {
		for _, pair := range [][2]string{{c.name, c.known}, {c.known, c.name}} {
			if _, got := schemas.Misspelt(pair[0], []string{pair[1]}); got != c.want {
				t.Errorf("%q for %q: got %t", pair[0], pair[1], got)
			}
		}
	}
}
