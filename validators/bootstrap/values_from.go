package bootstrap

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ValuesFrom is bootstrap-values-from.
var ValuesFrom = rule.Rule{
	ID:       bootstrap.RuleValuesFrom,
	Title:    "valuesFrom gives Flux values that the bootstrap doesn't see",
	Severity: finding.Error,
	Why: `helm-controller merges the ConfigMaps and Secrets of spec.valuesFrom under spec.values. A bootstrap that reads
spec.values alone installs the chart without them, and Flux changes that in its first upgrade.

What can be read is compared: ConfigMaps and Secrets in Git, generated ones too, at the key and the targetPath that
the reference names. What is encrypted, or not in Git, is unresolved.`,
	Fix: `Give the bootstrap the same values file (values: [../kubernetes/apps/a/app/values.yaml]), or move the values
into spec.values.`,
	Bad: []rule.Example{{Files: helmfile("1.18.6", "replicas: 1 # <-- here") + referring(cilium("ipam: cluster-pool"))}},
	Good: []rule.Example{{Files: helmfile("1.18.6", "{replicas: 2, ipam: cluster-pool}") +
		referring(cilium("ipam: cluster-pool"))}},
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleValuesFrom) },
}

// referring lets a HelmRelease take values from a ConfigMap.
func referring(helmRelease string) string {
	return strings.Replace(helmRelease, "  values:\n", "  valuesFrom:\n    - kind: ConfigMap\n      name: cilium-values\n  values:\n", 1) +
		`-- kubernetes/apps/kube-system/cilium/app/values.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: cilium-values
  namespace: kube-system
data:
  values.yaml: |
    replicas: 2
`
}
