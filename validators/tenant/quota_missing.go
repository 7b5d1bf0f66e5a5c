package tenant

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// QuotaMissing is the rule tenant-quota-missing.
var QuotaMissing = rule.Rule{
	ID:       "tenant-quota-missing",
	Title:    "a tenant's namespace without a quota",
	Severity: finding.Info,
	Why: `Without a ResourceQuota, one tenant can use all memory, CPU, volumes and load balancers of the cluster, on
purpose or by a typo in a replica count. Flux's controllers are shared, too: a quota on the number of
Kustomizations, HelmReleases and sources prevents one tenant from slowing down all others.

The rule checks the namespaces in which some account has a role. Nothing is reported if a policy generates
quotas, or if Capsule manages the tenant.`,
	Fix: `Add a ResourceQuota with requests.cpu, requests.memory, pods, persistentvolumeclaims, services.loadbalancers and
count/helmreleases.helm.toolkit.fluxcd.io, and a LimitRange with defaults: with a quota on requests, the API
server refuses pods without requests.`,
	Run: func(p *rule.Pass) {
		for _, c := range clusters(p) {
			if c.policies.quotas {
				continue
			}
			has := map[string]bool{}
			for _, o := range c.Objects() {
				if o.Group == "" && o.Kind == "ResourceQuota" && o.Field("spec", "hard") != nil {
					has[o.Namespace] = true
				}
			}
			c.judgeWorkloads(p, "ResourceQuota", func(namespace string) bool { return has[namespace] }, "add a ResourceQuota to the namespace")
		}
	},
}
