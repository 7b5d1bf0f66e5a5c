package k0rdent

import (
	"github.com/fluxcd/pkg/apis/kustomize"
)

// When k0rdent's kinds are healthy, by their status: Flux itself takes an object
// without a Ready condition for healthy as soon as it exists, and then the
// webhook of the next step refuses. Flux doesn't ask the expressions while
// status.observedGeneration is behind (RFC 0009), and an object without a status
// is in progress.
const (
	// releaseReady is what the webhook of Management asks.
	releaseReady = "has(status.ready) && status.ready"
	// templateValid is what the webhook of ClusterDeployment asks.
	templateValid = "has(status.valid) && status.valid"
	// managementReady is said when all components and providers are installed.
	managementReady = "has(status.conditions) && status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"
	credentialReady = "has(status.ready) && status.ready"
	// accessGiven: what the rules hand on is in the namespaces.
	accessGiven = "has(status.observedGeneration) && (!has(status.error) || status.error == '')"
)

// healthy are the expressions of kinds.
func healthy(kinds ...string) []kustomize.CustomHealthCheck {
	expressions := map[string]string{
		"Release": releaseReady, "ProviderTemplate": templateValid, "Management": managementReady,
		"ClusterTemplate": templateValid, "ServiceTemplate": templateValid,
		"ClusterTemplateChain": templateValid, "ServiceTemplateChain": templateValid,
		"Credential": credentialReady, "AccessManagement": accessGiven,
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
