package tenant

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// grant is a role that is bound to a subject.
type grant struct {
	binding *reconcile.Object
	// namespace is the namespace in which the grant is valid, "" for all.
	namespace string
	// subject is the index of the subject in the binding.
	subject int
	// account is the account that has the role. An empty name means all accounts of the namespace; an empty
	// namespace as well means every account of the cluster.
	account account
	// other reports whether the subject is a user or group that is not a service account.
	other bool
	// roleKind and roleName are the kind and name of the role.
	roleKind, roleName string
}

// grantsOf returns the grants in the bindings of a cluster, in the order of its objects.
func grantsOf(c *reconcile.Cluster) []grant {
	var grants []grant
	for _, o := range c.Objects() {
		if o.Group != rbacGroup || o.Kind != "RoleBinding" && o.Kind != "ClusterRoleBinding" {
			continue
		}
		for i := range o.List("subjects") {
			g := grant{binding: o, subject: i, roleKind: o.Text("roleRef", "kind"), roleName: o.Text("roleRef", "name")}
			if o.Kind == "RoleBinding" {
				g.namespace = o.Namespace
			}
			g.readSubject(o, i)
			grants = append(grants, g)
		}
	}
	return grants
}

// readSubject reads the service account of a subject, which may be written as a user or group. Source:
// k8s.io/apiserver/pkg/authentication/serviceaccount.
func (g *grant) readSubject(o *reconcile.Object, i int) {
	name := o.Text("subjects", i, "name")
	user, isUser := strings.CutPrefix(name, "system:serviceaccount:")
	group, isGroup := strings.CutPrefix(name, "system:serviceaccounts:")
	switch kind := o.Text("subjects", i, "kind"); {
	case kind == "ServiceAccount":
		g.account = account{cmp.Or(o.Text("subjects", i, "namespace"), o.Namespace), name}
	case kind == "User" && isUser:
		g.account.namespace, g.account.name, _ = strings.Cut(user, ":")
	case kind == "Group" && isGroup:
		g.account.namespace = group
	case kind == "Group" && slices.Contains([]string{"system:serviceaccounts", "system:authenticated"}, name):
	default:
		g.other = true
	}
}

// tenantsOf returns the tenants that have a grant.
func (c *cluster) tenantsOf(g grant) []*tenant {
	switch {
	case g.other:
		return nil
	case g.account == account{}:
		return c.tenants[:1] // the grant is for all others, too
	case g.account.name == "":
		if t := c.byNamespace[g.account.namespace]; t != nil {
			return []*tenant{t}
		}
	default:
		if t := c.ownerOf(g.account); t != nil {
			return []*tenant{t}
		}
	}
	return nil
}

// eachGrant calls a function for each grant of each tenant.
func eachGrant(p *rule.Pass, judge func(*cluster, *rule.Pass, grant, *tenant)) {
	for _, c := range clusters(p) {
		for _, g := range c.grants {
			for _, t := range c.tenantsOf(g) {
				judge(c, p, g, t)
			}
		}
	}
}

// who describes the subject of a grant to a tenant.
func (g grant) who(t *tenant) string {
	switch {
	case g.account == account{}:
		return "every service account, and so every tenant,"
	case g.account.name == "":
		return "every service account of tenant " + t.name + "'s namespace " + g.account.namespace
	}
	return "tenant " + t.name + "'s account " + g.account.String()
}

// where describes the scope of a grant.
func (g grant) where() string {
	if g.namespace == "" {
		return "the whole cluster"
	}
	return "namespace " + g.namespace
}

// covers reports whether a grant includes an account.
func (g grant) covers(a account) bool {
	return !g.other && (g.account == a || g.account == account{a.namespace, ""} || g.account == account{})
}

// isGranted reports whether an account, or all accounts of its namespace, have a grant.
func (c *cluster) isGranted(a account) bool {
	return len(c.index.granted[a]) > 0 || len(c.index.granted[account{a.namespace, ""}]) > 0
}

// policyRule is a rule of a role.
type policyRule struct{ groups, resources, verbs []string }

// role holds the relevant properties of a role that is bound to a tenant.
type role struct {
	object *reconcile.Object
	// reads reports whether the role only reads objects, and no Secrets.
	reads bool
	// patchesNamespaces reports whether the role may change a Namespace.
	patchesNamespaces bool
	// escalations and limits are the findings for tenant-rbac-escalation and tenant-rbac-excess, up to a limit.
	escalations []escalation
	limits      []limit
}

// escalation is a rule of a role through which a subject can get more permissions. everything reports whether
// the rule allows everything.
type escalation struct {
	rule           int
	verb, resource string
	everything     bool
	// unbound reports whether it is an escalation only if the role is bound for the whole cluster.
	unbound bool
	// names are the resource names to which the rule is limited; none means all.
	names []string
}

// limit is a writable resource that limits a tenant, and what the tenant gains by changing it.
type limit struct {
	rule, index    int
	resource, gain string
}

// mostFindings is the maximum number of findings about one role.
const mostFindings = 20

// rolesOf returns the roles of a grant, and whether they are known. It does not return built-in roles of
// Kubernetes.
func (c *cluster) rolesOf(g grant) (roles []*role, known bool) {
	id := reconcile.Identity{Group: rbacGroup, Kind: g.roleKind, Name: g.roleName}
	if g.roleKind == "Role" {
		id.Namespace = g.namespace
	}
	for _, o := range c.Find(id) {
		if o.Field("aggregationRule") != nil {
			return nil, false
		}
		if c.roles[o] == nil {
			c.roles[o] = readRole(o)
		}
		roles = append(roles, c.roles[o])
	}
	return roles, len(roles) > 0 || g.isBuiltIn()
}

func readRole(o *reconcile.Object) *role {
	r := &role{object: o, reads: true}
	for i := range o.List("rules") {
		rule := policyRule{groups: texts(o, "rules", i, "apiGroups"), resources: texts(o, "rules", i, "resources"), verbs: texts(o, "rules", i, "verbs")}
		r.reads = r.reads && rule.isRead()
		r.patchesNamespaces = r.patchesNamespaces || rule.allows("patch", "", "namespaces")
		if e, ok := rule.escalation(); ok && len(r.escalations) < mostFindings {
			e.rule, e.names = i, texts(o, "rules", i, "resourceNames")
			r.escalations = append(r.escalations, e)
		}
		for _, l := range rule.limits() {
			if l.rule = i; len(r.limits) < mostFindings {
				r.limits = append(r.limits, l)
			}
		}
	}
	return r
}

// isBuiltIn reports whether the bound role is built into Kubernetes.
func (g grant) isBuiltIn() bool {
	return g.roleKind == "ClusterRole" && slices.Contains([]string{"cluster-admin", "admin", "edit", "view"}, g.roleName)
}

func texts(o *reconcile.Object, path ...any) []string {
	var all []string
	for _, item := range o.List(path...) {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// has reports whether a list in a rule has a value, or a wildcard.
func has(list []string, value string) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}

// allows reports whether a rule allows a verb on a resource.
func (r policyRule) allows(verb, group, resource string) bool {
	return has(r.verbs, verb) && has(r.groups, group) && has(r.resources, resource)
}

// isEverything reports whether a rule allows everything.
func (r policyRule) isEverything() bool {
	return slices.Contains(r.verbs, "*") && slices.Contains(r.groups, "*") && slices.Contains(r.resources, "*")
}

// isRead reports whether a rule allows no changes and no reading of Secrets.
func (r policyRule) isRead() bool {
	reads := !slices.ContainsFunc(r.verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
	return reads && (!has(r.groups, "") || !has(r.resources, "secrets") && !slices.ContainsFunc(r.resources, connects))
}

// connects reports whether getting a resource means to connect to a workload. Source:
// https://kubernetes.io/docs/concepts/security/rbac-good-practices/#access-to-proxy-subresource-of-nodes
func connects(resource string) bool {
	_, subresource, _ := strings.Cut(resource, "/")
	return slices.Contains([]string{"attach", "exec", "portforward", "proxy"}, subresource)
}

// escalations are verbs on resources with which a subject can get more permissions. Those with
// unbound work only if the role is bound for the whole cluster.
// Source: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
var escalations = []struct {
	group, resource, verb string
	unbound               bool
}{
	{rbacGroup, "roles", "escalate", false}, {rbacGroup, "roles", "bind", false},
	{rbacGroup, "clusterroles", "escalate", true}, {rbacGroup, "clusterroles", "bind", false},
	{"", "serviceaccounts", "impersonate", false}, {"", "users", "impersonate", true}, {"", "groups", "impersonate", true},
	{"", "serviceaccounts/token", "create", false},
}

// escalation returns the escalation that a rule allows, and whether there is one. An escalation that works in a
// namespace comes first.
func (r policyRule) escalation() (found escalation, ok bool) {
	if r.isEverything() {
		return escalation{everything: true}, true
	}
	for _, e := range escalations {
		if r.allows(e.verb, e.group, e.resource) && (!ok || found.unbound) {
			found, ok = escalation{verb: e.verb, resource: e.resource, unbound: e.unbound}, true
		}
	}
	return found, ok
}

// ownBounds are resources that limit a tenant, and what the tenant gains by changing them. Source:
// https://kubernetes.io/docs/concepts/security/rbac-good-practices/ and CVE-2020-8554, CVE-2021-25740
var ownBounds = []struct{ group, resource, gain string }{
	{"", "resourcequotas", "lift its own limits"}, {"", "limitranges", "lift its own limits"}, {"", "namespaces", "lift its own limits"},
	{"", "endpoints", "point a Service at any address"}, {"discovery.k8s.io", "endpointslices", "point a Service at any address"},
	{"", "bindings", "choose any node for a pod"}, {"", "pods/binding", "choose any node for a pod"},
	{"", "pods/status", "point a Service at any address"},
	{"", "services/status", "take over addresses"}, {networkingGroup, "ingresses/status", "choose the address of a DNS name"},
}

// limits returns the resources in a rule that limit a tenant and that the rule allows to write, in the order of
// the rule. A wildcard counts as an escalation instead.
func (r policyRule) limits() []limit {
	writes := slices.ContainsFunc(r.verbs, func(v string) bool {
		return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection", "*"}, v)
	})
	if !writes || slices.Contains(r.resources, "*") {
		return nil
	}
	var found []limit
	for i, resource := range r.resources {
		for _, b := range ownBounds {
			if b.resource == resource && has(r.groups, b.group) {
				found = append(found, limit{index: i, resource: resource, gain: b.gain})
			}
		}
	}
	return found
}
