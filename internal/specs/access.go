package specs

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Verbs and resources that no rule of a tenant may grant, and why. The tenant's workloads have the
// permissions of its account.
var (
	refusedVerbs = map[string]string{
		"escalate":    "it lets the tenant grant itself anything in the namespace",
		"bind":        "it lets the tenant bind roles that it does not hold",
		"impersonate": "it lets the tenant act as somebody else",
	}
	refusedResources = map[string]string{
		"pods/exec":                "it lets the tenant run commands in any pod of the namespace without a commit",
		"pods/attach":              "it lets the tenant attach to any pod of the namespace without a commit",
		"pods/portforward":         "it lets the tenant reach any pod of the namespace past the network policy",
		"pods/ephemeralcontainers": "it lets the tenant run containers in any pod of the namespace without a commit",
		"pods/proxy":               "it lets the tenant reach any pod of the namespace past the network policy",
		"services/proxy":           "it lets the tenant reach any service of the namespace past the network policy",
		"serviceaccounts/token":    "it issues tokens for any account of the namespace",
	}
	// Resources that a tenant may only read, because they restrict the tenant.
	readOnlyResources = []string{"limitranges", "namespaces", "networkpolicies", "resourcequotas"}
	readVerbs         = []string{"get", "list", "watch"}
	// Resources that a tenant may not write, because they can direct a Service to any address. Kubernetes' own
	// roles no longer allow that either (https://github.com/kubernetes/kubernetes/issues/103675).
	addressResources = []string{"endpoints", "endpointslices"}
	// Resources without a namespace, which a Role cannot grant.
	clusterResources = []string{
		"clusterrolebindings", "clusterroles", "customresourcedefinitions", "ingressclasses", "mutatingwebhookconfigurations", "nodes",
		"persistentvolumes", "priorityclasses", "storageclasses", "validatingadmissionpolicies", "validatingwebhookconfigurations",
	}
)

// access checks the rules that grant a tenant more than its profile does.
func (c *specChecker) access(t *v1alpha1.Tenant) {
	for i, rule := range t.Spec.Access.Rules {
		p := strict.At("spec", "access", "rules").Item(i)
		for _, list := range []struct {
			name  string
			items []string
		}{{"apiGroups", rule.APIGroups}, {"resources", rule.Resources}, {"verbs", rule.Verbs}} {
			for j, item := range list.items {
				if strings.Contains(item, "*") {
					c.Fail(t, p.Child(list.name).Item(j), "list each one that the tenant needs", "%s is a wildcard, which also grants access to future resources", strict.Quote(item))
				}
			}
		}
		for j, verb := range rule.Verbs {
			if reason, refused := refusedVerbs[verb]; refused {
				c.Fail(t, p.Child("verbs").Item(j), "remove it: "+reason, "verb %s is never granted to a tenant", strict.Quote(verb))
			}
		}
		for j, name := range rule.Resources {
			c.grant(t, p.Child("resources").Item(j), name, rule.Verbs)
		}
	}
}

// grant checks one resource of a rule.
func (c *specChecker) grant(t *v1alpha1.Tenant, p *strict.Path, name string, verbs []string) {
	kind, _, _ := strings.Cut(name, "/")
	if reason, refused := refusedResources[name]; refused {
		c.Fail(t, p, "remove it: "+reason, "resource %s is never granted to a tenant", strict.Quote(name))
	}
	if slices.Contains(clusterResources, kind) {
		c.Fail(t, p, "remove it: tenants deploy only to their namespaces", "resource %s is cluster-scoped, and a tenant's Role cannot grant it", strict.Quote(name))
	}
	writes := slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains(readVerbs, v) })
	if slices.Contains(addressResources, kind) && writes {
		c.Fail(t, p, "grant only get, list and watch: Services find their pods by themselves", "write access to %s is never granted to a tenant: it can direct a Service to any address", strict.Quote(name))
	}
	if slices.Contains(readOnlyResources, kind) && writes {
		c.Fail(t, p, "grant only get, list and watch: it restricts the tenant, which could remove the restriction", "write access to %s is never granted to a tenant", strict.Quote(name))
	}
}

// quotaNames are the resources of a ResourceQuota that have no prefix or domain:
// https://kubernetes.io/docs/concepts/policy/resource-quotas/
var quotaNames = []string{
	"configmaps", "cpu", "ephemeral-storage", "limits.cpu", "limits.ephemeral-storage", "limits.memory", "memory", "persistentvolumeclaims", "pods",
	"replicationcontrollers", "requests.cpu", "requests.ephemeral-storage", "requests.memory", "requests.storage", "resourcequotas", "secrets",
	"services", "services.loadbalancers", "services.nodeports",
}

// limitNames are the resources of a container's limits.
var limitNames = []string{"cpu", "ephemeral-storage", "memory"}

// quota checks the names and quantities of quota and limits, and that the defaults of a container
// are within its maximum.
func (c *specChecker) quota(t *v1alpha1.Tenant) {
	quota := c.quantities(t, strict.At("spec", "quota"), t.Spec.Quota, quotaNames, "count/")
	for _, name := range limitNames {
		requests, limits := quota["requests."+name], quota["limits."+name]
		if _, has := quota["limits."+name]; has && requests.Cmp(limits) > 0 {
			c.Fail(t, strict.At("spec", "quota").Child("requests."+name), "raise limits."+name+", or lower requests."+name,
				"spec.quota: requests.%s is %s, more than limits.%s, which is %s", name, requests.String(), name, limits.String())
		}
	}
	p, limits := strict.At("spec", "limits"), t.Spec.Limits
	top := c.quantities(t, p.Child("max"), limits.Max, limitNames, "hugepages-")
	usual := c.quantities(t, p.Child("default"), limits.Default, limitNames, "hugepages-")
	request := c.quantities(t, p.Child("defaultRequest"), limits.DefaultRequest, limitNames, "hugepages-")
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		c.within(t, p, "default", name, usual[name], "max", top)
	}
	for _, name := range slices.Sorted(maps.Keys(request)) {
		c.within(t, p, "defaultRequest", name, request[name], "default", usual)
	}
}

// within reports a quantity in spec.limits that exceeds its bound: default that exceeds max, or defaultRequest that exceeds
// default.
func (c *specChecker) within(t *v1alpha1.Tenant, p *strict.Path, field, name string, q resource.Quantity, above string, bounds map[string]resource.Quantity) {
	bound, has := bounds[name]
	if !has || q.Cmp(bound) <= 0 {
		return
	}
	// Either quantity may be a default: report the one that the user wrote.
	here := p.Child(field).Child(name)
	if _, _, own := here.Find(c.Objects[t].Root); !own {
		here = p.Child(above).Child(name)
	}
	c.Fail(t, here, "set both, so that defaultRequest is at most default, and default is at most max", "spec.limits.%s of %s is %s, more than spec.limits.%s, which is %s", field, name, q.String(), above, bound.String())
}

// quantities checks the quantities of a map and returns the valid ones. A name must be in names, or
// have the prefix or a domain.
func (c *specChecker) quantities(t *v1alpha1.Tenant, p *strict.Path, values map[string]string, names []string, prefix string) map[string]resource.Quantity {
	out := make(map[string]resource.Quantity, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) && !strings.HasPrefix(name, prefix) && !strings.Contains(name, "/") {
			c.FailKey(t, p.Child(name), c.Report.Suggest(name, "resource", "", names), "resource %s does not exist", strict.Quote(name))
		}
		q, err := count.Quantity(values[name])
		switch {
		case err != nil:
			c.Fail(t, p.Child(name), "write a quantity such as 500m, 2 or 4Gi", "%s is not a quantity", strict.Quote(values[name]))
		case q.Sign() < 0:
			c.Fail(t, p.Child(name), "write 0, which allows none, or a positive quantity", "%s is negative", strict.Quote(values[name]))
		default:
			out[name] = q
		}
	}
	return out
}
