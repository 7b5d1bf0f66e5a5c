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
	Why: `A tenant's account has roles only in namespaces. The API server refuses its cluster-scoped objects (a Namespace,
a ClusterRole, a CustomResourceDefinition, a ClusterIssuer), and a Kustomization with such an object applies
nothing at all. The same applies to a HelmRelease whose chart renders one, if the chart is available locally.`,
	Fix: `Move the object to the objects that the platform applies, or use the namespaced kind (an Issuer instead of a
ClusterIssuer).`,
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

// judgeScopes checks the objects that a tenant's account applies. It skips an account with a role for the whole
// cluster, which may be allowed to apply them.
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

// isRefused reports whether Flux rejects the source of a Kustomization. tenant-cross-namespace-ref reports
// that.
func (c *cluster) isRefused(k *reconcile.Kustomization) bool {
	ref := k.Spec.SourceRef.Namespace
	return ref != "" && ref != k.Namespace && c.lockdown.refusesCrossRefs()
}

// appliesItself reports whether the folder of a Kustomization contains the file of the Kustomization itself.
// Then its source is not really the tenant's.
func appliesItself(k *reconcile.Kustomization) bool {
	return k.Object != nil && (k.Dir == "." || strings.HasPrefix(k.Object.File, k.Dir+"/"))
}

// isClusterScoped reports whether the kind of an object is known to be cluster-scoped.
func (c *cluster) isClusterScoped(o *reconcile.Object) bool {
	return c.isClusterScopedKind(o.APIVersion, o.Kind)
}

func (c *cluster) isClusterScopedKind(apiVersion, kind string) bool {
	gv, err := apischema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false
	}
	return isKnownClusterScoped(gv.WithKind(kind)) || c.index.scopes[[2]string{gv.Group, kind}]
}

// isKnownClusterScoped reports whether a kind with a known schema is cluster-scoped.
func isKnownClusterScoped(gvk apischema.GroupVersionKind) bool {
	s, ok := schemas.Lookup(gvk)
	return ok && !s.Namespaced
}

// mayPatch reports whether an account may change an existing Namespace: a role in that namespace can allow it.
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
