package tenant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RBACEscalation is the rule tenant-rbac-escalation.
var RBACEscalation = rule.Rule{
	ID:       "tenant-rbac-escalation",
	Title:    "a role with which a tenant can get more permissions",
	Severity: finding.Error,
	Why: `The API server lets no account grant more permissions than it has, except with the verbs bind or escalate on
roles. With impersonate, an account acts as another user. An account that may impersonate only itself gains nothing, and
is not reported. With permission to create tokens of service accounts, an account becomes one of them. A wildcard for verbs
and resources includes all of this. In the tenant's own namespace, a wildcard is a warning, as cluster-admin is there.`,
	Fix: `Name the verbs and resources that the tenant's objects need: get, list, watch, create, patch and delete for
kustomize-controller, and also update for helm-controller. Write access to Roles and RoleBindings is safe
without bind and escalate: the tenant can then grant only the permissions that it has.`,
	Run: func(p *rule.Pass) { eachGrant(p, (*cluster).judgeEscalation) },
}

func (c *cluster) judgeEscalation(p *rule.Pass, g grant, t *tenant) {
	roles, _ := c.rolesOf(g)
	_, own := t.namespaces[g.namespace]
	for _, r := range roles {
		for _, e := range r.escalations {
			f := finding.Finding{Hint: "name the verbs and the resources that the tenant's objects need"}
			switch {
			case e.unbound && g.namespace != "", e.isItself(g):
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

// isItself reports whether an escalation only lets an account impersonate itself, or get a token for itself.
// Then the account gains nothing.
func (e escalation) isItself(g grant) bool {
	return !e.everything && strings.HasPrefix(e.resource, "serviceaccounts") && len(e.names) > 0 &&
		g.account.name != "" && g.namespace == g.account.namespace &&
		!slices.ContainsFunc(e.names, func(name string) bool { return name != g.account.name })
}
