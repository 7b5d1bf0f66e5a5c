package tenant

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RBACEscalation is the rule tenant-rbac-escalation.
var RBACEscalation = rule.Rule{
	ID:       "tenant-rbac-escalation",
	Title:    "a role by which a tenant can give itself more rights",
	Severity: finding.Error,
	Why: `The API server lets nobody grant more than one has, but for who holds bind or escalate on roles. Who may
impersonate acts as another user, and who may create tokens of service accounts becomes them. A wildcard for verbs
and resources holds all of this. In its own namespace a wildcard is a warning, as cluster-admin there is.`,
	Fix: `Name the verbs and the resources that the tenant's objects need: get, list, watch, create, patch, delete for
what kustomize-controller applies, and update beside these for helm-controller. Roles and RoleBindings may be
written without bind and escalate: then the tenant grants what it has, and no more.`,
	Run: func(p *rule.Pass) { eachGrant(p, (*cluster).judgeEscalation) },
}

func (c *cluster) judgeEscalation(p *rule.Pass, g grant, t *tenant) {
	roles, _ := c.rolesOf(g)
	_, own := t.namespaces[g.namespace]
	for _, r := range roles {
		for _, e := range r.escalations {
			f := finding.Finding{Hint: "name the verbs and the resources that the tenant's objects need"}
			switch {
			case e.unbound && g.namespace != "":
				continue
			case e.everything:
				f.Message = fmt.Sprintf("%s may do anything in %s", g.who(t), g.where())
				if own && g.account != (account{}) {
					f.Severity = finding.Warning
				}
			default:
				f.Message = fmt.Sprintf("%s may %s %s in %s", g.who(t), e.verb, e.resource, g.where())
			}
			p.ReportBuilt(r.object, f, "rules", e.rule, "verbs")
		}
	}
}
