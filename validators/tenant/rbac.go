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
	// namespace that it holds in, "" for all.
	namespace string
	// subject is its index in the binding.
	subject int
	// account that it is bound to, its name "" for all of the namespace, and both "" for
	// every account of the cluster.
	account account
	// other says that it is bound to a user or group which is no service account.
	other bool
	// role is its kind and name.
	roleKind, roleName string
}

// grantsOf reads the bindings of a cluster, in the order of its objects.
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

// readSubject finds the account of a subject, which may be spelled as a user or group.
// Source: k8s.io/apiserver/pkg/authentication/serviceaccount.
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

// tenantsOf are the tenants that a grant is for.
func (c *cluster) tenantsOf(g grant) []*tenant {
	switch {
	case g.other:
		return nil
	case g.account == account{}:
		return c.tenants[:1] // and all others
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

// eachGrant judges what is granted to each tenant.
func eachGrant(p *rule.Pass, judge func(*cluster, *rule.Pass, grant, *tenant)) {
	for _, c := range clusters(p) {
		for _, g := range c.grants {
			for _, t := range c.tenantsOf(g) {
				judge(c, p, g, t)
			}
		}
	}
}

// who names the subject of a grant to a tenant.
func (g grant) who(t *tenant) string {
	switch {
	case g.account == account{}:
		return "every service account, and so every tenant,"
	case g.account.name == "":
		return "every service account of tenant " + t.name + "'s namespace " + g.account.namespace
	}
	return "tenant " + t.name + "'s account " + g.account.String()
}

// where names what a grant holds in.
func (g grant) where() string {
	if g.namespace == "" {
		return "the whole cluster"
	}
	return "namespace " + g.namespace
}

// covers says whether a grant is for an account.
func (g grant) covers(a account) bool {
	return !g.other && (g.account == a || g.account == account{a.namespace, ""} || g.account == account{})
}

// isGranted says whether anything is granted to an account, or to all of its namespace.
func (c *cluster) isGranted(a account) bool {
	return len(c.index.granted[a]) > 0 || len(c.index.granted[account{a.namespace, ""}]) > 0
}

// policyRule is a rule of a role.
type policyRule struct{ groups, resources, verbs []string }

// role is what matters of a role that is bound to a tenant.
type role struct {
	object *reconcile.Object
	// reads says that nothing may be changed and no Secret be read.
	reads bool
	// patchesNamespaces says that a Namespace may be changed.
	patchesNamespaces bool
	// escalations and limits are what tenant-rbac-escalation and tenant-rbac-excess are
	// about, the first few of each.
	escalations []escalation
	limits      []limit
}

// escalation is a rule by which one gets more rights; everything says that it allows
// whatever there is.
type escalation struct {
	rule           int
	verb, resource string
	everything     bool
	// unbound says that it holds only where the role is bound for the whole cluster.
	unbound bool
}

// limit is a resource in a rule that sets a tenant's bounds and may be written, and what is gained
// by it.
type limit struct {
	rule, index    int
	resource, gain string
}

// mostTold bounds what is told of one role.
const mostTold = 20

// rolesOf are the roles that a grant binds, and whether they are known. One that Kubernetes
// brings is none.
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
		if e, ok := rule.escalation(); ok && len(r.escalations) < mostTold {
			e.rule = i
			r.escalations = append(r.escalations, e)
		}
		for _, l := range rule.limits() {
			if l.rule = i; len(r.limits) < mostTold {
				r.limits = append(r.limits, l)
			}
		}
	}
	return r
}

// isBuiltIn says that Kubernetes brings the role that is bound.
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

// has says whether a list of a rule has a value, or a wildcard.
func has(list []string, value string) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}

// allows says whether a rule allows a verb on a resource.
func (r policyRule) allows(verb, group, resource string) bool {
	return has(r.verbs, verb) && has(r.groups, group) && has(r.resources, resource)
}

// isEverything says that a rule allows whatever there is.
func (r policyRule) isEverything() bool {
	return slices.Contains(r.verbs, "*") && slices.Contains(r.groups, "*") && slices.Contains(r.resources, "*")
}

// isRead says that a rule lets nothing be changed, and no Secret be read.
func (r policyRule) isRead() bool {
	reads := !slices.ContainsFunc(r.verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
	return reads && (!has(r.groups, "") || !has(r.resources, "secrets") && !slices.ContainsFunc(r.resources, connects))
}

// connects says whether to get a resource is to connect to what runs there.
// Source: https://kubernetes.io/docs/concepts/security/rbac-good-practices/#access-to-proxy-subresource-of-nodes
func connects(resource string) bool {
	_, subresource, _ := strings.Cut(resource, "/")
	return slices.Contains([]string{"attach", "exec", "portforward", "proxy"}, subresource)
}

// escalations are verbs on resources by which one gets more rights than one has; those on
// what belongs to no namespace hold only where the role is bound for the whole cluster.
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

// escalation says whether a rule lets one get more rights; what holds in a namespace first.
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

// ownBounds are resources that set a tenant's bounds, and what who may write them gains.
// Source: https://kubernetes.io/docs/concepts/security/rbac-good-practices/ and CVE-2020-8554, CVE-2021-25740
var ownBounds = []struct{ group, resource, gain string }{
	{"", "resourcequotas", "lift its own limits"}, {"", "limitranges", "lift its own limits"}, {"", "namespaces", "lift its own limits"},
	{"", "endpoints", "point a Service at any address"}, {"discovery.k8s.io", "endpointslices", "point a Service at any address"},
	{"", "bindings", "choose any node for a pod"}, {"", "pods/binding", "choose any node for a pod"},
	{"", "pods/status", "point a Service at any address"},
	{"", "services/status", "take over addresses"}, {networkingGroup, "ingresses/status", "choose the address of a DNS name"},
}

// limits are the resources of a rule that set a tenant's bounds, in their order, where it lets them be
// written. A wildcard is an escalation.
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
