package tenant

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const labelEnforce = "pod-security.kubernetes.io/enforce"

// NamespaceUnlabelled is the rule tenant-namespace-unlabelled.
var NamespaceUnlabelled = rule.Rule{
	ID:       "tenant-namespace-unlabelled",
	Title:    "a tenant's namespace that allows privileged pods",
	Severity: finding.Warning,
	Why: `Without the label pod-security.kubernetes.io/enforce, or with the level privileged, any account that can create pods in
the namespace can create one that is privileged or mounts the node's file system. Such a pod can read the
Secrets and tokens of every other pod on the node: no role confines such a tenant to its namespace.

Nothing is reported if a policy of the cluster enforces pod security, or if Capsule manages the tenant.`,
	Fix: `Label the Namespace:

    labels:
      pod-security.kubernetes.io/enforce: restricted

baseline is the level for workloads that restricted refuses. Source:
https://kubernetes.io/docs/concepts/security/pod-security-admission/`,
	Run: func(p *rule.Pass) {
		for _, c := range clusters(p) {
			if c.policies.pods {
				continue
			}
			for _, t := range c.tenants {
				c.judgePodSecurity(p, t)
			}
		}
	},
}

func (c *cluster) judgePodSecurity(p *rule.Pass, t *tenant) {
	for _, name := range t.sorted() {
		o := t.namespaces[name]
		if o == nil || t.capsule {
			continue
		}
		f := finding.Finding{Hint: "label it pod-security.kubernetes.io/enforce: restricted, or baseline"}
		switch o.Label(labelEnforce) {
		case "":
			f.Message = fmt.Sprintf("tenant %s: namespace %s has no label %s, so privileged pods can run in it", t.name, name, labelEnforce)
		case "privileged":
			f.Message = fmt.Sprintf("tenant %s: namespace %s allows privileged pods", t.name, name)
		default:
			continue
		}
		p.ReportBuilt(o, f, "metadata", "labels", labelEnforce)
	}
}

// workloads returns the namespaces of a tenant in which pods can run: an account has a grant there, and the
// Namespace is in Git.
func (c *cluster) workloads(t *tenant) []*reconcile.Object {
	var own []*reconcile.Object
	for _, name := range t.sorted() {
		if o := t.namespaces[name]; o != nil && len(c.index.bound[name]) > 0 && !t.capsule {
			own = append(own, o)
		}
	}
	return own
}

// judgeWorkloads reports each workload namespace without an object that the platform should create in it.
func (c *cluster) judgeWorkloads(p *rule.Pass, what string, isThere func(namespace string) bool, hint string) {
	for _, t := range c.tenants {
		for _, o := range c.workloads(t) {
			if isThere(o.Name) {
				continue
			}
			if c.unlessComplete(p, fmt.Sprintf("whether every tenant namespace has a %s", what)) {
				return
			}
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("tenant %s: namespace %s has no %s", t.name, o.Name, what),
				Hint:    hint,
			}, "metadata", "name")
		}
	}
}
