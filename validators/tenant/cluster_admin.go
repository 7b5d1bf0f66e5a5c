package tenant

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ClusterAdmin is the rule tenant-cluster-admin.
var ClusterAdmin = rule.Rule{
	ID:       "tenant-cluster-admin",
	Title:    "a tenant's account is bound to cluster-admin",
	Severity: finding.Error,
	Why: `If it is bound in the whole cluster (a ClusterRoleBinding), the tenant owns the cluster: an error.

If it is bound in its own namespace (a RoleBinding, as flux create tenant creates it), the tenant can do anything there:
a warning. It can raise its quota, change its network policies, and remove the pod security labels from its
Namespace. A privileged pod then controls the node that it runs on.`,
	Fix: `Bind admin or edit, which cannot change quotas and the Namespace, or a Role with the kinds that the tenant
deploys: flux create tenant has --cluster-role.`,
	Run: func(p *rule.Pass) { eachGrant(p, (*cluster).judgeClusterAdmin) },
}

func (c *cluster) judgeClusterAdmin(p *rule.Pass, g grant, t *tenant) {
	if g.roleKind != "ClusterRole" || g.roleName != "cluster-admin" {
		return
	}
	f := finding.Finding{
		Message: fmt.Sprintf("%s is bound to cluster-admin in %s", g.who(t), g.where()),
		Hint:    "bind admin or edit, or a Role with the kinds that the tenant deploys",
	}
	if _, own := t.namespaces[g.namespace]; own && g.account != (account{}) {
		f.Severity = finding.Warning
	}
	p.ReportBuilt(g.binding, f, "roleRef", "name")
}
