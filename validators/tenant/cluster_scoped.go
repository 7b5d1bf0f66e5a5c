package tenant

import (
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ClusterScoped is the rule tenant-cluster-scoped.
var ClusterScoped = rule.Rule{
	ID:       "tenant-cluster-scoped",
	Title:    "a cluster-scoped object that a tenant's account applies",
	Severity: finding.Error,
	Why: `A tenant's account is granted roles in namespaces. The API server refuses it what belongs to no namespace
(a Namespace, a ClusterRole, a CustomResourceDefinition, a ClusterIssuer), and the Kustomization with such an
object applies nothing at all. So it is with a HelmRelease whose chart, where it is at hand, renders one.`,
	Fix: `Move the object to what the platform applies, or take the namespaced kind (an Issuer for a ClusterIssuer).`,
	Run: func(p *rule.Pass) {
		for _, c := range clusters(p) {
			for _, k := range c.Kustomizations {
				if k.Spec.KubeConfig == nil && !c.isRefused(k) && !appliesItself(k) {
					c.judgeScopes(p, account{k.Namespace, k.Spec.ServiceAccountName}, k.Objects)
				}
			}
			for _, r := range c.Releases {
				c.judgeScopes(p, account{r.Object.Namespace, r.Object.Text("spec", "serviceAccountName")}, r.All())
			}
		}
	},
}

// judgeScopes judges what a tenant's account applies. One that a role is bound to for the
// whole cluster may be allowed to.
func (c *cluster) judgeScopes(p *rule.Pass, a account, objects []*reconcile.Object) {
	t := c.ownerOf(a)
	if t == nil || a.name == "" {
		return
	}
	for _, g := range c.index.bound[""] {
		if g.covers(a) && g.account != (account{}) {
			return
		}
	}
	for _, o := range objects {
		if !c.isClusterScoped(o) || o.Kind == "Namespace" && c.mayPatch(a, o.Name) {
			continue
		}
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("tenant %s: %s belongs to the whole cluster, but account %s can write only in namespaces", t.name, o, a),
			Hint:    "move it to the objects that the platform applies",
		}, "kind")
	}
}

// isRefused says that Flux refuses a Kustomization its source: tenant-cross-namespace-ref
// tells.
func (c *cluster) isRefused(k *reconcile.Kustomization) bool {
	ref := k.Spec.SourceRef.Namespace
	return ref != "" && ref != k.Namespace && c.lockdown.refusesCrossRefs()
}

// appliesItself says that the folder of a Kustomization holds the file that it stands in: then
// its source is not the tenant's but was taken for it.
func appliesItself(k *reconcile.Kustomization) bool {
	return k.Object != nil && (k.Dir == "." || strings.HasPrefix(k.Object.File, k.Dir+"/"))
}

// isClusterScoped says so where it is known of the kind.
func (c *cluster) isClusterScoped(o *reconcile.Object) bool {
	return c.isClusterScopedKind(o.APIVersion, o.Kind)
}

func (c *cluster) isClusterScopedKind(apiVersion, kind string) bool {
	gv, err := apischema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false
	}
	if s, ok := schemas.Lookup(gv.WithKind(kind)); ok {
		return !s.Namespaced
	}
	return c.index.scopes[[2]string{gv.Group, kind}]
}

// mayPatch says whether an account may change a Namespace that is there: a role in the
// namespace can allow it.
func (c *cluster) mayPatch(a account, namespace string) bool {
	for _, g := range c.index.bound[namespace] {
		if !g.covers(a) {
			continue
		}
		roles, known := c.rolesOf(g)
		if !known || g.isBuiltIn() && g.roleName == "cluster-admin" || slices.ContainsFunc(roles, func(r *role) bool { return r.patchesNamespaces }) {
			return true
		}
	}
	return false
}
