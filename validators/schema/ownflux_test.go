package schema

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// The definitions that a cluster applies with Flux allow what a patch adds to them.
func TestOwnFlux(t *testing.T) {
	t.Parallel()
	const definition = `-- clusters/prod/alerts.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: alerts.notification.toolkit.fluxcd.io}
spec:
  group: notification.toolkit.fluxcd.io
  names: {kind: Alert, listKind: AlertList, plural: alerts, singular: alert}
  scope: Namespaced
  versions:
  - name: v1beta3
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              eventSources: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: string, enum: [Kustomization]}}}}
`
	const patch = `-- clusters/prod/kustomization.yaml --
resources: [flux-system/gotk-sync.yaml, alerts.yaml, alert.yaml]
patches:
- target: {kind: CustomResourceDefinition}
  patch: '[{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/eventSources/items/properties/kind/enum/-", "value": "Terraform"}]'
`
	const alert = `-- clusters/prod/alert.yaml --
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: a, namespace: flux-system}
spec:
  providerRef: {name: a}
  eventSources: [{kind: Terraform, name: '*'}]
`
	for name, c := range map[string]struct {
		files string
		found int
	}{
		"patched":     {definition + patch, 0},
		"not patched": {definition, 1},
		"no own one":  {"", 1},
	} {
		found := ruletest.Find(t, Invalid, rule.FluxSync+c.files+alert)
		if len(found) != c.found {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
