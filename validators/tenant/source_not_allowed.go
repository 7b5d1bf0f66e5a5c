package tenant

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// SourceNotAllowed is the rule tenant-source-not-allowed.
var SourceNotAllowed = rule.Rule{
	ID:       "tenant-source-not-allowed",
	Title:    "a tenant's source that the cluster's own policy refuses",
	Severity: finding.Error,
	Why: `A ValidatingAdmissionPolicy of the cluster restricts the sources of tenants, and the API server refuses this
one: the Kustomization that applies it becomes not ready. Or the policy should allow the source and does not.

Policies whose binding denies are evaluated as in the API server, for the sources in the tenants' namespaces. A
policy that depends on the user, or has parameters, is not evaluated. In a cluster without such a policy, the
rule reports nothing: whether to restrict the tenants' sources is your decision.`,
	Fix: `Use an allowed source, or allow this one in the policy.`,
	Run: func(p *rule.Pass) {
		withPolicies(p, func(c *cluster, a *admission) { c.judgeSources(p, a) })
	},
}

func (c *cluster) judgeSources(p *rule.Pass, a *admission) {
	for _, o := range c.Objects() {
		resource := sourceResources[o.Kind]
		t := c.byNamespace[o.Namespace]
		if o.Group == fluxapi.SourceGroup && resource != "" && t != nil {
			c.judgeSource(p, a, o, t, resource)
		}
	}
}

func (c *cluster) judgeSource(p *rule.Pass, a *admission, o *reconcile.Object, t *tenant, resource string) {
	url := cmp.Or(o.Text("spec", "url"), o.Text("spec", "endpoint"))
	path := []any{"spec", "url"}
	if o.Kind == "Bucket" {
		path = []any{"spec", "endpoint"}
	}
	at := o.Position(path...)
	found, undecided := a.judge(p.Context, request{object: o, resource: resource})
	switch {
	case undecided || found != nil && strings.Contains(url, "${"):
		p.Unresolved(at, fmt.Sprintf("tenant %s: cannot decide whether the cluster's admission policies admit %s", t.name, o))
	case found != nil:
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("tenant %s: %s is refused by %s: %s", t.name, o, found.policy, found.message),
			Hint:    "use an allowed source, or allow this one in " + found.policy.File,
		}, named(o, found.message, path)...)
	}
}

var fieldName = regexp.MustCompile(`\bspec(\.[A-Za-z]+)+`)

// named returns the path of the first field of an object that a message mentions, or otherwise if there is
// none.
func named(o *reconcile.Object, message string, otherwise []any) []any {
	for _, text := range fieldName.FindAllString(message, -1) {
		var path []any
		for step := range strings.SplitSeq(text, ".") {
			path = append(path, step)
		}
		if o.Field(path...) != nil {
			return path
		}
	}
	return otherwise
}
