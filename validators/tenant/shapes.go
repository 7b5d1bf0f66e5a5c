package tenant

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// deploysOwn reports whether a tenant deploys from a source of its own, to which people outside the platform
// team may push.
func (c *cluster) deploysOwn(t *tenant) bool {
	for namespace := range t.namespaces {
		if slices.ContainsFunc(c.index.reconcilers[namespace], func(o *reconcile.Object) bool { return o.Kind == "Kustomization" && isOwnSource(o) }) {
			return true
		}
	}
	return false
}

// differing are the distinct tenants of each cluster, by cluster name.
var differing = &rule.Analysis[map[string][]*tenant]{Name: "tenants that differ", RunPass: func(p *rule.Pass) map[string][]*tenant {
	all := map[string][]*tenant{}
	for name, c := range models.Of(p) {
		all[name] = c.distinct((&evaluator{}).admission(c)) // without evaluating the policies
	}
	return all
}}

// distinct returns the tenants with sources of their own. Of tenants that differ only in their names and in the literals
// of their policies, it returns one, because thousands of tenants may be similar.
func (c *cluster) distinct(a *admission) []*tenant {
	known := map[digest]bool{}
	shapes := map[*reconcile.Object]string{}
	var distinct []*tenant
	for _, t := range c.tenants {
		if !c.deploysOwn(t) {
			continue
		}
		h := sha256.New()
		for _, namespace := range t.sorted() {
			for _, g := range c.index.bound[namespace] {
				if c.ownerOf(g.account) == t {
					h.Write([]byte(g.roleKind + " " + c.roleShape(g, shapes) + "\n"))
				}
			}
			for _, b := range a.candidates(namespace) {
				h.Write([]byte(policyShape(b.policy, shapes) + "\n"))
			}
		}
		if id := digest(h.Sum(nil)); !known[id] {
			known[id] = true
			distinct = append(distinct, t)
		}
	}
	return distinct
}

// roleShape returns the rules of a grant's role, or its name if the role is not in Git.
func (c *cluster) roleShape(g grant, shapes map[*reconcile.Object]string) string {
	id := reconcile.Identity{Group: rbacGroup, Kind: g.roleKind, Name: g.roleName}
	if g.roleKind == "Role" {
		id.Namespace = g.namespace
	}
	roles := c.Find(id)
	if len(roles) == 0 {
		return g.roleName
	}
	if shapes[roles[0]] == "" {
		data, err := json.Marshal(roles[0].Value["rules"])
		shapes[roles[0]] = cmp.Or(string(data), fmt.Sprint(err))
	}
	return shapes[roles[0]]
}

// policyShape returns a policy without the literals in its expressions.
func policyShape(o *reconcile.Object, shapes map[*reconcile.Object]string) string {
	if shapes[o] != "" {
		return shapes[o]
	}
	var b strings.Builder
	for _, list := range []string{"matchConditions", "variables", "validations"} {
		for i := range o.List("spec", list) {
			text, _ := hoist(o.Text("spec", list, i, "expression"))
			b.WriteString(list + text + "\n")
		}
	}
	data, err := json.Marshal(o.Field("spec", "matchConstraints"))
	shapes[o] = b.String() + cmp.Or(string(data), fmt.Sprint(err))
	return shapes[o]
}
