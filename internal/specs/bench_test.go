package specs

import (
	"fmt"
	"strings"
	"testing"
)

// fleetOf writes a specification of many tenants and 10 clusters with 50
// add-ons.
func fleetOf(tenants int) []File {
	var clusters, addons, teams strings.Builder
	clusters.WriteString("apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {repository: {url: 'https://h/fleet'}}\n")
	for i := range 10 {
		fmt.Fprintf(&clusters, "---\napiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata:\n  name: c%d\n  labels:\n    region: r%d\nspec:\n  environment: e%d\n  variables:\n    DOMAIN: c%d.example.com\n", i, i%3, i%4, i)
	}
	for i := range 50 {
		fmt.Fprintf(&addons, "---\napiVersion: fleetwright.dev/v1alpha1\nkind: Addon\nmetadata:\n  name: a%d\nspec:\n  namespace: a%d\n  chart:\n    url: oci://r.example.com/charts/a%d\n    version: 1.2.3\n  values:\n", i, i, i)
		for j := range 20 {
			fmt.Fprintf(&addons, "    key%d:\n      host: h%d.${DOMAIN}\n      replicas: %d\n      list: [a, b, c]\n", j, j, j)
		}
		addons.WriteString("  overrides:\n    - clusters:\n        environments: [e1]\n      values:\n        key1:\n          replicas: 5\n")
		if i > 0 {
			fmt.Fprintf(&addons, "  dependsOn:\n    - name: a%d\n", i-1)
		}
	}
	for i := range tenants {
		fmt.Fprintf(&teams, "---\napiVersion: fleetwright.dev/v1alpha1\nkind: Tenant\nmetadata:\n  name: t%d\n  labels:\n    team: t%d\nspec:\n  namespaces:\n    - t%d\n    - t%d-jobs\n  source:\n    url: https://h/t%d\n    branch: main\n  environments:\n    e0: ./e0\n    e1: ./e1\n    c2: ./c2\n  quota:\n    pods: \"20\"\n  networkPolicy:\n    egressCIDRs:\n      - 10.0.0.0/8\n", i, i, i, i, i)
	}
	return []File{{"clusters.yaml", []byte(clusters.String())}, {"addons.yaml", []byte(addons.String())}, {"tenants.yaml", []byte(teams.String())}}
}

func BenchmarkLoad(b *testing.B) {
	for _, tenants := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			files := fleetOf(tenants)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(files); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHelpers asks for every tenant's clusters and every cluster's add-ons
// and values, as the generators do.
func BenchmarkHelpers(b *testing.B) {
	spec := mustLoad(b, fleetOf(1000))
	for b.Loop() {
		for _, t := range spec.Tenants {
			if len(spec.TenantClusters(t)) == 0 {
				b.Fatal("a tenant is nowhere")
			}
		}
		for _, c := range spec.Clusters {
			for _, a := range spec.AddonsOn(c) {
				spec.EffectiveValues(a, c)
			}
		}
	}
}
