package tenant

import (
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// judgeKind checks the kind of an object, with the resource name that Kubernetes derives from the kind, and reports
// whether it is allowed. Flux applies an object with patch, for which the API server also requires create if the object
// does not exist.
func (j *bounded) judgeKind(o *reconcile.Object, gvk apischema.GroupVersionKind) bool {
	resource, _ := apimeta.UnsafeGuessKindToResource(gvk)
	const hint = "remove it, or ask the platform to allow the kind"
	verbs, all := j.verbsOn(gvk.Group, resource.Resource)
	switch {
	case all || has(verbs, "patch") && (has(verbs, "create") || existsAnyway(o)):
		return true
	case len(verbs) == 0:
		j.report(o, hint, fmt.Sprintf("%s is of a kind that the platform does not let the tenant write", o), "kind")
	case !has(verbs, "patch"):
		j.report(o, hint, fmt.Sprintf("%s is of a kind on which the platform grants the tenant only %s: Flux applies it with patch", o, strings.Join(verbs, ", ")), "kind")
	default:
		j.p.Unresolved(o.Position("kind"), fmt.Sprintf("tenant %s: the platform lets the tenant change %s, but not create it: it is unknown whether it exists on the cluster", j.name, o))
		return true
	}
	return false
}

// existsAnyway reports whether Kubernetes creates an object in each namespace.
func existsAnyway(o *reconcile.Object) bool {
	return o.Group == "" && (o.Kind == "ServiceAccount" && o.Name == "default" || o.Kind == "ConfigMap" && o.Name == "kube-root-ca.crt")
}

// verbsOn returns the sorted verbs that are granted on a resource. all reports whether every verb is granted.
func (j *bounded) verbsOn(group, resource string) (verbs []string, all bool) {
	all = len(j.spec.Kinds) == 0
	for _, k := range j.spec.Kinds {
		if has(k.APIGroups, group) && has(k.Resources, resource) {
			all = all || len(k.Verbs) == 0 || slices.Contains(k.Verbs, "*")
			verbs = append(verbs, k.Verbs...)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(verbs))), all
}

// allowsResource reports whether objects of a resource may be created or changed.
func (j *bounded) allowsResource(group, resource string) bool {
	verbs, all := j.verbsOn(group, resource)
	return all || slices.ContainsFunc(verbs, func(verb string) bool { return slices.Contains(writeVerbs, verb) })
}

// judgeRights checks a Role or RoleBinding: the API server lets no account grant permissions that it does not have. Of
// the built-in roles of Kubernetes, edit and admin include Pods, and cluster-admin includes everything.
func (j *bounded) judgeRights(o *reconcile.Object) {
	switch o.Kind {
	case "RoleBinding":
		name := o.Text("roleRef", "name")
		if o.Text("roleRef", "kind") == "ClusterRole" && (name == "cluster-admin" || (name == "admin" || name == "edit") && !j.allowsResource("", "pods")) {
			j.report(o, "bind a Role with what the tenant's objects need", fmt.Sprintf("%s grants %s, which has more permissions than the platform grants to the tenant", o, name), "roleRef", "name")
		}
	case "Role":
		for i := range o.List("rules") {
			rule := ruleOf(o, i)
			what := rule.beyond(j.allowsResource)
			if len(j.spec.Kinds) == 0 && !rule.isEverything() {
				what = ""
			}
			if what != "" {
				j.report(o, "name what the tenant's objects need", fmt.Sprintf("%s grants write access to %s, which the platform does not grant to the tenant", o, what), "rules", i, "resources")
				return
			}
		}
	}
}

// ruleOf returns the i-th rule of a role.
func ruleOf(o *reconcile.Object, i int) policyRule {
	return policyRule{groups: texts(o, "rules", i, "apiGroups"), resources: texts(o, "rules", i, "resources"), verbs: texts(o, "rules", i, "verbs")}
}

// writeVerbs are the verbs that create or change objects.
var writeVerbs = []string{"create", "update", "patch", "*"}

// mostPairs is the maximum number of pairs of group and resource in a rule that are checked.
const mostPairs = 1000

// beyond returns the first resource that a rule allows to create or change and that is not allowed; "" if there
// is none. It skips subresources, because allowed does not cover them.
func (r policyRule) beyond(allowed func(group, resource string) bool) string {
	if !slices.ContainsFunc(r.verbs, func(verb string) bool { return slices.Contains(writeVerbs, verb) }) {
		return ""
	}
	pairs := 0
	for _, group := range r.groups {
		for _, resource := range r.resources {
			if pairs++; pairs > mostPairs {
				return fmt.Sprintf("more than %d resources", mostPairs)
			}
			if !strings.Contains(resource, "/") && !allowed(group, resource) {
				if resource == "*" {
					return "all resources"
				}
				return resource
			}
		}
	}
	return ""
}
