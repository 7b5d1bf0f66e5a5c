package tenant

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RBACExcess is the rule tenant-rbac-excess.
var RBACExcess = rule.Rule{
	ID:       "tenant-rbac-excess",
	Title:    "a tenant with permissions beyond its namespaces, or over its own limits",
	Severity: finding.Error,
	Why: `A tenant has the permissions that RBAC grants its account, because Flux impersonates the account. A
ClusterRoleBinding applies in every namespace, and a RoleBinding in the namespace of Flux, of Kubernetes or of
another tenant applies in that one. Read access, except to Secrets, is not reported. The built-in role view for
the whole cluster, which shows each tenant what the others deploy, is a warning.

In its own namespaces, a tenant that can write its quota, its limits or the Namespace itself (with its pod
security labels) sets its own limits: a warning. The same applies to Endpoints, EndpointSlices and the status of
pods, which direct a Service to any address, to the status of Services and Ingresses, which takes over
addresses, and to the binding of pods to nodes. Exec, attach, port-forward and proxy count as write access, even
with the verb get.`,
	Fix: `Bind the role only in the tenant's namespaces, with a RoleBinding in each, and remove resourcequotas,
limitranges, namespaces, endpoints, endpointslices and the subresources status and binding from the resources
that it can write.`,
	Run: func(p *rule.Pass) { eachGrant(p, (*cluster).judgeExcess) },
}

func (c *cluster) judgeExcess(p *rule.Pass, g grant, t *tenant) {
	if g.roleKind == "ClusterRole" && g.roleName == "cluster-admin" || g.account.name == "" && g.account.namespace == "" {
		return // tenant-cluster-admin reports the former; a grant to all accounts belongs to no tenant
	}
	roles, known := c.rolesOf(g)
	other := c.byNamespace[g.namespace]
	if g.namespace != "" && !c.isSystem(g.namespace) && (other == nil || other == t) {
		c.judgeOwnLimits(p, g, t, roles)
		return
	}
	if !known && g.namespace == "" {
		p.Unresolved(g.binding.Position("roleRef", "name"), fmt.Sprintf("cannot decide what %s %q grants %s in %s: the role is not in Git", g.roleKind, g.roleName, g.who(t), g.where()))
		return
	}
	f := finding.Finding{
		Message: fmt.Sprintf("%s is granted %s %q in %s", g.who(t), g.roleKind, g.roleName, g.where()),
		Hint:    "bind the role in the tenant's namespaces only",
	}
	switch {
	case !known:
		f.Severity = finding.Warning
		f.Message += ", but the role is not in Git"
	case g.isBuiltIn() && g.roleName == "view":
		f.Severity = finding.Warning
	case g.isBuiltIn():
	case !slices.ContainsFunc(roles, func(r *role) bool { return !r.reads }):
		return
	}
	p.ReportBuilt(g.binding, f, "roleRef", "name")
}

// judgeOwnLimits reports the limits that a tenant may change in its own namespaces.
func (c *cluster) judgeOwnLimits(p *rule.Pass, g grant, t *tenant, roles []*role) {
	for _, r := range roles {
		for _, l := range r.limits {
			p.ReportBuilt(r.object, finding.Finding{
				Severity: finding.Warning,
				Message:  fmt.Sprintf("%s can write %s in %s, and thereby %s", g.who(t), l.resource, g.where(), l.gain),
				Hint:     "remove " + l.resource + " from the resources that the tenant can write",
			}, "rules", l.rule, "resources", l.index)
		}
	}
}
