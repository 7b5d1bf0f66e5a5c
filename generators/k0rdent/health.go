package k0rdent

import (
	"github.com/fluxcd/pkg/apis/kustomize"
)

// The conditions, as CEL expressions on the status, under which objects of k0rdent's kinds are healthy. By default, Flux
// treats an object without a Ready condition as healthy as soon as it exists, and the webhook of the next step would
// refuse objects. Flux evaluates an expression only if status.observedGeneration is current (RFC 0009); an object without
// a status is in progress.
const (
	// releaseReady is the condition that the webhook of Management checks.
	releaseReady = "has(status.ready) && status.ready"
	// templateValid is the condition that the webhook of ClusterDeployment checks.
	templateValid = "has(status.valid) && status.valid"
	// managementReady is true when all components and providers are installed.
	managementReady = "has(status.conditions) && status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"
	credentialReady = "has(status.ready) && status.ready"
	// accessApplied is true when kcm has copied the objects that the rules name to the namespaces.
	accessApplied = "has(status.observedGeneration) && (!has(status.error) || status.error == '')"
)

// healthy returns the health checks of kinds.
func healthy(kinds ...string) []kustomize.CustomHealthCheck {
	expressions := map[string]string{
		"Release": releaseReady, "ProviderTemplate": templateValid, "Management": managementReady,
		"ClusterTemplate": templateValid, "ServiceTemplate": templateValid,
		"ClusterTemplateChain": templateValid, "ServiceTemplateChain": templateValid,
		"Credential": credentialReady, "AccessManagement": accessApplied,
	}
	var out []kustomize.CustomHealthCheck
	for _, kind := range kinds {
		out = append(out, kustomize.CustomHealthCheck{
			APIVersion: apiVersion, Kind: kind,
			HealthCheckExpressions: kustomize.HealthCheckExpressions{Current: expressions[kind]},
		})
	}
	return out
}
