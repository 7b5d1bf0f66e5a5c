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
	Why: `Without a ResourceQuota one tenant can take the cluster's memory, processors, volumes and load balancers, by
intent or by a replica count with a zero too many, and the others go hungry. Flux's own controllers are shared,
too: a quota on the number of Kustomizations, HelmReleases and sources keeps one tenant from slowing all.

Asked of the namespaces in which somebody is granted something. Where a policy generates quotas, or Capsule keeps
the tenant, nothing is reported.`,
	Fix: `Add a ResourceQuota with requests.cpu, requests.memory, pods, persistentvolumeclaims, services.loadbalancers
and count/helmreleases.helm.toolkit.fluxcd.io, and a LimitRange with defaults beside it: with a quota on requests
the API server refuses pods that request nothing.`,
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
