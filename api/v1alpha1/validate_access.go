package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Verbs and resources that no rule of a tenant may grant, and why. What a
// tenant's account may do, its workloads can do too.
var (
	refusedVerbs = map[string]string{
		"escalate":    "it lets the tenant grant itself anything in the namespace",
		"bind":        "it lets the tenant bind roles that it does not hold",
		"impersonate": "it lets the tenant act as somebody else",
	}
	refusedResources = map[string]string{
		"pods/exec":                "it runs commands in any pod of the namespace, outside of Git",
		"pods/attach":              "it enters any pod of the namespace, outside of Git",
		"pods/portforward":         "it reaches any pod of the namespace past the network policy",
		"pods/ephemeralcontainers": "it runs containers in any pod of the namespace, outside of Git",
		"pods/proxy":               "it reaches any pod of the namespace past the network policy",
		"services/proxy":           "it reaches any service of the namespace past the network policy",
		"serviceaccounts/token":    "it issues tokens for any account of the namespace",
	}
	// The fences that stand around a tenant.
	readOnlyResources = []string{"limitranges", "namespaces", "networkpolicies", "resourcequotas"}
	readVerbs         = []string{"get", "list", "watch"}
	// What leads a Service to any address, as Kubernetes' own roles no longer allow
	// (https://github.com/kubernetes/kubernetes/issues/103675).
	addressResources = []string{"endpoints", "endpointslices"}
	// A Role cannot grant these.
	clusterResources = []string{
		"clusterrolebindings", "clusterroles", "customresourcedefinitions", "ingressclasses", "mutatingwebhookconfigurations", "nodes",
		"persistentvolumes", "priorityclasses", "storageclasses", "validatingadmissionpolicies", "validatingwebhookconfigurations",
	}
)

// access checks the rules that a tenant is granted beside its profile's.
func (c *checker) access(t *Tenant) {
	for i, rule := range t.Spec.Access.Rules {
		p := at("spec", "access", "rules").item(i)
		for _, list := range []struct {
			name  string
			items []string
		}{{"apiGroups", rule.APIGroups}, {"resources", rule.Resources}, {"verbs", rule.Verbs}} {
			for j, item := range list.items {
				if strings.Contains(item, "*") {
					c.fail(t, p.child(list.name).item(j), "name each one that the tenant needs", "%s is a wildcard, which also grants what is not there yet", quote(item))
				}
			}
		}
		for j, verb := range rule.Verbs {
			if reason, refused := refusedVerbs[verb]; refused {
				c.fail(t, p.child("verbs").item(j), "take it out: "+reason, "verb %s is never granted to a tenant", quote(verb))
			}
		}
		for j, name := range rule.Resources {
			c.grant(t, p.child("resources").item(j), name, rule.Verbs)
		}
	}
}

// grant checks one resource of a rule.
func (c *checker) grant(t *Tenant, p *fieldPath, name string, verbs []string) {
	kind, _, _ := strings.Cut(name, "/")
	if reason, refused := refusedResources[name]; refused {
		c.fail(t, p, "take it out: "+reason, "resource %s is never granted to a tenant", quote(name))
	}
	if slices.Contains(clusterResources, kind) {
		c.fail(t, p, "take it out: tenants deploy to their namespaces only", "resource %s belongs to the whole cluster, a tenant's Role cannot grant it", quote(name))
	}
	writes := slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains(readVerbs, v) })
	if slices.Contains(addressResources, kind) && writes {
		c.fail(t, p, "grant get, list and watch only: Services find their pods by themselves", "writing %s is never granted to a tenant: it leads a Service to any address", quote(name))
	}
	if slices.Contains(readOnlyResources, kind) && writes {
		c.fail(t, p, "grant get, list and watch only: it is a fence around the tenant, which it could take down", "writing %s is never granted to a tenant", quote(name))
	}
}

// quotaNames are the resources of a ResourceQuota without a prefix or a domain:
// https://kubernetes.io/docs/concepts/policy/resource-quotas/
var quotaNames = []string{
	"configmaps", "cpu", "ephemeral-storage", "limits.cpu", "limits.ephemeral-storage", "limits.memory", "memory", "persistentvolumeclaims", "pods",
	"replicationcontrollers", "requests.cpu", "requests.ephemeral-storage", "requests.memory", "requests.storage", "resourcequotas", "secrets",
	"services", "services.loadbalancers", "services.nodeports",
}

// limitNames are the resources of a container's limits.
var limitNames = []string{"cpu", "ephemeral-storage", "memory"}

// quota checks names and quantities of quota and limits, and that what a
// container gets by default is within its maximum.
func (c *checker) quota(t *Tenant) {
	quota := c.quantities(t, at("spec", "quota"), t.Spec.Quota, quotaNames, "count/")
	for _, name := range limitNames {
		requests, limits := quota["requests."+name], quota["limits."+name]
		if _, has := quota["limits."+name]; has && requests.Cmp(limits) > 0 {
			c.fail(t, at("spec", "quota").child("requests."+name), "raise limits."+name+", or lower requests."+name,
				"spec.quota allows requests.%s of %s, more than limits.%s, %s", name, requests.String(), name, limits.String())
		}
	}
	p, limits := at("spec", "limits"), t.Spec.Limits
	top := c.quantities(t, p.child("max"), limits.Max, limitNames, "hugepages-")
	usual := c.quantities(t, p.child("default"), limits.Default, limitNames, "hugepages-")
	request := c.quantities(t, p.child("defaultRequest"), limits.DefaultRequest, limitNames, "hugepages-")
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		c.within(t, p, "default", name, usual[name], "max", top)
	}
	for _, name := range slices.Sorted(maps.Keys(request)) {
		c.within(t, p, "defaultRequest", name, request[name], "default", usual)
	}
}

// within reports a quantity above another one of the limits.
func (c *checker) within(t *Tenant, p *fieldPath, field, name string, q resource.Quantity, above string, bounds map[string]resource.Quantity) {
	bound, has := bounds[name]
	if !has || q.Cmp(bound) <= 0 {
		return
	}
	// Either side may be a default of ours: report what the user wrote.
	here := p.child(field).child(name)
	if _, _, own := here.find(c.objects[t].root); !own {
		here = p.child(above).child(name)
	}
	c.fail(t, here, "set both: defaultRequest is at most default, and default at most max", "spec.limits.%s of %s is %s, more than spec.limits.%s, %s", field, name, q.String(), above, bound.String())
}

// quantities parses the quantities of a map and returns the good ones. A name is
// one of the list, or has the prefix or a domain.
func (c *checker) quantities(t *Tenant, p *fieldPath, values map[string]string, names []string, prefix string) map[string]resource.Quantity {
	out := make(map[string]resource.Quantity, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) && !strings.HasPrefix(name, prefix) && !strings.Contains(name, "/") {
			c.failKey(t, p.child(name), c.report.suggest(name, "resource", "", names), "there is no resource %s", quote(name))
		}
		q, err := resource.ParseQuantity(values[name])
		switch {
		case err != nil:
			c.fail(t, p.child(name), "write a quantity such as 500m, 2 or 4Gi", "%s is not a quantity", quote(values[name]))
		case q.Sign() < 0:
			c.fail(t, p.child(name), "write 0, which allows none, or more", "%s is negative", quote(values[name]))
		default:
			out[name] = q
		}
	}
	return out
}
