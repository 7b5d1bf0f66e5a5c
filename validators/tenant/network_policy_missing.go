package tenant

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// NetworkPolicyMissing is the rule tenant-network-policy-missing.
var NetworkPolicyMissing = rule.Rule{
	ID:       "tenant-network-policy-missing",
	Title:    "a tenant's namespace that every pod of the cluster can reach",
	Severity: finding.Warning,
	Why: `Without a NetworkPolicy, every pod of every tenant can reach the other tenants' pods on all ports: databases
without a password, metrics, administration. Namespaces do not isolate the network.

A policy counts if it selects all pods of the namespace (an empty podSelector) for ingress; a policy for some
pods leaves the others open. The rule checks the namespaces in which some account has a role. Nothing is
reported if a policy applies to the whole cluster or generates NetworkPolicies, or if Capsule manages the
tenant.`,
	Fix: `Deny by default, then open what is needed:

    apiVersion: networking.k8s.io/v1
    kind: NetworkPolicy
    metadata:
      name: default-deny
      namespace: shop
    spec:
      podSelector: {}
      policyTypes: [Ingress, Egress]

Pods need DNS: also allow port 53 to kube-system.`,
	Run: func(p *rule.Pass) {
		for _, c := range clusters(p) {
			if c.policies.networks {
				continue
			}
			closed := map[string]bool{}
			for _, o := range c.Objects() {
				if closesAll(o) {
					closed[o.Namespace] = true
				}
			}
			c.judgeWorkloads(p, "NetworkPolicy that selects all of its pods", func(namespace string) bool { return closed[namespace] },
				"deny by default, then allow the required traffic")
		}
	},
}

// closesAll reports whether a policy selects all pods of its namespace for ingress.
func closesAll(o *reconcile.Object) bool {
	selector, field := "podSelector", o.Field("spec", "podSelector")
	switch o.Group + "/" + o.Kind {
	case networkingGroup + "/NetworkPolicy":
		types := texts(o, "spec", "policyTypes")
		if len(types) > 0 && !slices.Contains(types, "Ingress") {
			return false
		}
	case "cilium.io/CiliumNetworkPolicy":
		selector, field = "endpointSelector", o.Field("spec", "endpointSelector")
		if o.Field("spec", "ingress") == nil && o.Field("spec", "ingressDeny") == nil {
			return false
		}
	case "crd.projectcalico.org/NetworkPolicy", "projectcalico.org/NetworkPolicy":
		text := o.Text("spec", "selector")
		return text == "" || text == "all()"
	default:
		return false
	}
	fields, isMap := field.(map[string]any)
	// A missing selector means all pods in a NetworkPolicy; in Cilium's it is an error.
	return isMap && len(fields) == 0 || field == nil && selector == "podSelector"
}
