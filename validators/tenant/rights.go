package tenant

import (
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// rights are the permissions of an account in a namespace.
type rights struct {
	// none reports whether the account has no grant.
	none bool
	// known reports whether all roles are known.
	known bool
	rules []policyRule
	// builtIn is the highest built-in role that is bound, as an index of ranks.
	builtIn int
}

// ranks are the built-in roles of Kubernetes. Each has all permissions of those before it.
var ranks = []string{"", "view", "edit", "admin", "cluster-admin"}

// rightsOf returns the rights of an account in a namespace.
func (c *cluster) rightsOf(a account, namespace string) *rights {
	r := &rights{none: true, known: true}
	for _, g := range slices.Concat(c.index.bound[namespace], c.index.bound[""]) {
		if !g.covers(a) {
			continue
		}
		if r.none = false; g.isBuiltIn() {
			r.builtIn = max(r.builtIn, slices.Index(ranks, g.roleName))
			continue
		}
		roles, known := c.rolesOf(g)
		r.known = r.known && known
		for _, role := range roles {
			for i := range role.object.List("rules") {
				r.rules = append(r.rules, ruleOf(role.object, i))
			}
		}
	}
	return r
}

// writes reports whether the rules allow to create or change objects of a resource.
func (r *rights) writes(group, resource string) bool {
	return slices.ContainsFunc(r.rules, func(rule policyRule) bool {
		return (rule.allows("create", group, resource) || rule.allows("patch", group, resource))
	})
}

// missing returns the verb without which Flux cannot apply an object: always patch, and create if the object does not
// exist yet. It returns "" if the account has both, or one of Kubernetes' built-in roles.
func (r *rights) missing(o *reconcile.Object) string {
	switch {
	case r.builtIn > 0 || r.grantsOn("patch", o) && (existsAnyway(o) || r.grantsOn("create", o)):
		return ""
	case o.HelmRelease != nil && (r.grantsOn("create", o) || r.grantsOn("patch", o)): // Helm's verb depends on its version
		return ""
	case r.grantsOn("patch", o):
		return "create"
	}
	return "patch"
}

// grantsOn reports whether a verb is granted on the kind of an object. If a kind has no schema, its resource may have an
// irregular name, so a resource with the same beginning counts.
func (r *rights) grantsOn(verb string, o *reconcile.Object) bool {
	gv, err := apischema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return true
	}
	resource, _ := apimeta.UnsafeGuessKindToResource(gv.WithKind(o.Kind))
	kind := strings.ToLower(o.Kind)
	return slices.ContainsFunc(r.rules, func(rule policyRule) bool {
		return has(rule.groups, gv.Group) && has(rule.verbs, verb) && (has(rule.resources, resource.Resource) || slices.ContainsFunc(rule.resources, func(name string) bool {
			return strings.HasPrefix(strings.ReplaceAll(name, "-", ""), kind) && !strings.Contains(name, "/")
		}))
	})
}

// holds reports whether an account with the rights may bind a built-in role.
func (r *rights) holds(rank int) bool {
	return r.builtIn >= rank || slices.ContainsFunc(r.rules, func(rule policyRule) bool {
		return rule.isEverything() || rule.allows("bind", rbacGroup, "clusterroles") || rank < len(ranks)-1 && slices.Contains(rule.resources, "*")
	})
}

// grants returns the first resource that a rule allows to create or change and the rights do not; "" if there
// is none.
func (r *rights) grants(rule policyRule) string {
	if slices.ContainsFunc(r.rules, func(own policyRule) bool { return own.isEverything() || own.allows("escalate", rbacGroup, "roles") }) ||
		r.builtIn == len(ranks)-1 || r.builtIn > 0 && !rule.isEverything() {
		return ""
	}
	return rule.beyond(r.writes)
}
