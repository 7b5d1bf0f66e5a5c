package flux

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// Each of these stops Flux, whatever a cluster has.
func TestWhatStopsFlux(t *testing.T) {
	t.Parallel()
	apps := func(checks string) string {
		return fluxSync + kustomization("apps", "  healthChecks: ["+checks+"]\n") + "-- apps/a.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app, namespace: default}\n"
	}
	release := func(from, values string) string {
		return fluxSync + "-- clusters/prod/app.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app, namespace: default}\n" +
			"spec: {interval: 1h, chartRef: {kind: OCIRepository, name: app}, valuesFrom: [{kind: ConfigMap, name: values" + from + "}]}\n" +
			"-- clusters/prod/values.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: default}\ndata: {values.yaml: '" + values + "'}\n"
	}
	set := func(inputs, text string) string {
		return fluxSync + "-- clusters/prod/set.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: teams, namespace: flux-system}\nspec:\n  " + inputs + "\n" +
			"  resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: '" + text + "', namespace: default}}]\n"
	}
	const inputs, provided = "inputs: [{team: a}]", "inputsFrom: [{kind: ResourceSetInputProvider, name: elsewhere}]"
	for _, c := range []struct {
		name       string
		rule       rule.Rule
		files      string
		found      int
		unresolved int
	}{
		{"a health check", HealthCheckMissing, apps("{apiVersion: apps/v1, kind: Deployment, name: app, namespace: default}"), 0, 0},
		{"one of a kind in another group", HealthCheckMissing, apps("{apiVersion: v1, kind: Deployment, name: app, namespace: default}"), 1, 0},
		{"one of a kind that is a typo", HealthCheckMissing, apps("{apiVersion: apps/v1, kind: Deploymnet, name: app, namespace: default}"), 1, 0},
		{"one of another version", HealthCheckMissing, apps("{apiVersion: apps/v1beta9, kind: Deployment, name: app, namespace: default}"), 0, 0},
		{"one of an operator's kind", HealthCheckMissing, apps("{apiVersion: example.com/v1, kind: Thing, name: app, namespace: default}"), 0, 0},
		{"values", ValuesReferenceMissing, release("", "a: b"), 0, 0},
		{"values that are no YAML", ValuesReferenceMissing, release("", "a: [b"), 1, 0},
		{"values that are no mapping", ValuesReferenceMissing, release("", "- a"), 1, 0},
		{"one value at a path", ValuesReferenceMissing, release(", targetPath: a.b", "- a"), 0, 0},
		{"values with a variable", ValuesReferenceMissing, release("", "${VALUES}"), 0, 0},
		{"an input", BuildFailed, set(inputs, "a-<< inputs.team >>"), 0, 0},
		{"an input that is not defined", BuildFailed, set(inputs, "a-<< inputs.teams >>"), 1, 0},
		{"a template that cannot be parsed", BuildFailed, set(inputs, "a-<< end >>"), 1, 0},
		{"an input of a provider that is not in Git", BuildFailed, set(provided, "a-<< inputs.teams >>"), 0, 1},
	} {
		found, unresolved := ruletest.Run(t, c.rule, c.files)
		for _, f := range found {
			if f.Severity != finding.Error {
				t.Errorf("%s: %+v is no error", c.name, f)
			}
		}
		if len(found) != c.found || len(unresolved) != c.unresolved {
			t.Errorf("%s: found %+v, unresolved %+v", c.name, found, unresolved)
		}
	}
}
