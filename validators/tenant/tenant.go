// Package tenant holds the rules about clusters that several teams share: what
// keeps a tenant inside of its namespaces. All of them draw from one model of a
// cluster's tenants; a cluster without tenants has no findings.
package tenant

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// The labels that name a namespace's tenant: of `flux create tenant`, which other
// tools took over, and of Capsule.
const (
	labelTenant  = "toolkit.fluxcd.io/tenant"
	labelCapsule = "capsule.clastix.io/tenant"
)

// The groups of the kinds that are judged.
const (
	rbacGroup        = "rbac.authorization.k8s.io"
	admissionGroup   = "admissionregistration.k8s.io"
	certManagerGroup = "cert-manager.io"
	networkingGroup  = "networking.k8s.io"
	gatewayGroup     = "gateway.networking.k8s.io"
	appsGroup        = "apps"
	batchGroup       = "batch"
)

// account is a service account.
type account struct{ namespace, name string }

func (a account) String() string { return a.namespace + "/" + a.name }

// tenant is a team with namespaces and accounts of its own.
type tenant struct {
	name string
	// namespaces by name; the object is nil where it isn't in Git.
	namespaces map[string]*reconcile.Object
	// capsule says that Capsule keeps the tenant.
	capsule  bool
	accounts map[account]bool
}

// cluster is a cluster with its tenants.
type cluster struct {
	*reconcile.Cluster
	// flux is the namespace of Flux's controllers.
	flux string
	// tenants in the order of their names; never empty.
	tenants     []*tenant
	byNamespace map[string]*tenant
	byAccount   map[account]*tenant
	index       index
	grants      []grant
	// roles are those that were looked at. Rules run side by side, so that each has a copy
	// of the cluster with its own.
	roles    map[*reconcile.Object]*role
	lockdown lockdown
	policies policies
	// incomplete is the first Kustomization of the platform whose objects are not all
	// known; nil where they are.
	incomplete *reconcile.Kustomization
}

// models are the clusters with tenants, by name.
var models = &rule.Analysis[map[string]*cluster]{Name: "tenant", RunPass: func(p *rule.Pass) map[string]*cluster {
	all := map[string]*cluster{}
	for _, c := range p.Fleet().Clusters {
		if m := modelOf(p.Context, p.Repo, c); m != nil {
			all[c.Name] = m
		}
	}
	return all
}}

// clusters are those of the pass that have tenants.
func clusters(p *rule.Pass) []*cluster {
	var own []*cluster
	for _, c := range p.Clusters() {
		if m := models.Of(p)[c.Name]; m != nil {
			mine := *m
			mine.roles = map[*reconcile.Object]*role{}
			own = append(own, &mine)
		}
	}
	return own
}

// modelOf finds a cluster's tenants; nil where there is none.
func modelOf(ctx context.Context, repo *repository.Repository, rc *reconcile.Cluster) *cluster {
	c := &cluster{Cluster: rc, flux: "flux-system", byNamespace: map[string]*tenant{}, byAccount: map[account]*tenant{}}
	if len(rc.Kustomizations) > 0 {
		c.flux = cmp.Or(rc.Kustomizations[0].Namespace, c.flux)
	}
	c.grants = grantsOf(rc)
	c.index = indexOf(rc, c.grants)
	found := c.labelled()
	for name, t := range found {
		if !c.isEvident(t) {
			delete(found, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		c.add(found[name])
	}
	c.addUnlabelled()
	if len(c.tenants) == 0 || ctx.Err() != nil {
		return nil
	}
	for _, t := range c.tenants {
		c.addAccounts(t)
	}
	c.incomplete = c.firstIncomplete()
	c.lockdown = lockdownOf(repo, c)
	c.policies = policiesOf(c)
	return c
}

// labelled are the namespaces that carry a tenant's label, by tenant. Flux's own
// namespace is the platform's, whatever its label says.
func (c *cluster) labelled() map[string]*tenant {
	found := map[string]*tenant{}
	for _, o := range c.index.namespaces {
		if c.isSystem(o.Name) {
			continue
		}
		name := cmp.Or(o.Label(labelTenant), o.Label(labelCapsule))
		if name == "" {
			continue
		}
		t := found[name]
		if t == nil {
			t = &tenant{name: name, namespaces: map[string]*reconcile.Object{}, accounts: map[account]bool{}}
			found[name] = t
		}
		t.namespaces[o.Name] = o
		t.capsule = t.capsule || o.Label(labelCapsule) != ""
	}
	return found
}

// isSystem says whether a namespace is Flux's or Kubernetes' own.
func (c *cluster) isSystem(namespace string) bool {
	return namespace == c.flux || namespace == "flux-system" || strings.HasPrefix(namespace, "kube-")
}

// isEvident says whether more than a label makes a tenant: many a repository labels
// namespaces by team and applies everything as cluster-admin. A tenant has something that
// Flux applies from a source of the tenant's namespace as an account there, or a role that
// is bound in its namespace to an account that Flux, not a workload, acts as.
func (c *cluster) isEvident(t *tenant) bool {
	for namespace := range t.namespaces {
		for _, o := range c.index.reconcilers[namespace] {
			if o.Kind == "Kustomization" && o.Text("spec", "serviceAccountName") != "" && isOwnSource(o) {
				return true
			}
		}
		if slices.ContainsFunc(c.index.bound[namespace], func(g grant) bool { return c.isForReconciler(t, g) }) {
			return true
		}
	}
	return false
}

// isForReconciler says whether a grant in a tenant's namespace is for the account that Flux
// acts as for the tenant: it does so, the account carries the tenant's label, or the role is
// one that is for people and their tools, as `flux create tenant` binds it.
func (c *cluster) isForReconciler(t *tenant, g grant) bool {
	if g.account.name == "" || c.index.workloads[g.account] {
		return false
	}
	_, own := t.namespaces[g.account.namespace]
	return own && (c.index.used[g.account] || g.isBuiltIn() && g.roleName != "view") || c.accountLabel(g.account) == t.name
}

// isOwnSource says whether a Kustomization applies a source of its own namespace.
func isOwnSource(o *reconcile.Object) bool {
	return slices.Contains([]string{"", o.Namespace}, o.Text("spec", "sourceRef", "namespace"))
}

func (c *cluster) accountLabel(a account) string {
	for _, o := range c.Find(reconcile.Identity{Kind: "ServiceAccount", Namespace: a.namespace, Name: a.name}) {
		if label := cmp.Or(o.Label(labelTenant), o.Label(labelCapsule)); label != "" {
			return label
		}
	}
	return ""
}

// isReconciler says whether Flux applies things as an object says.
func isReconciler(o *reconcile.Object) bool {
	return o.Group == fluxapi.KustomizeGroup && o.Kind == "Kustomization" || o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" ||
		o.Group == fluxapi.OperatorGroup && o.Kind == "ResourceSet"
}

func (c *cluster) add(t *tenant) {
	c.tenants = append(c.tenants, t)
	c.extend(t, t.namespaces)
}

// extend gives a tenant namespaces.
func (c *cluster) extend(t *tenant, namespaces map[string]*reconcile.Object) {
	for name, o := range namespaces {
		t.namespaces[name] = o
		c.byNamespace[name] = t
	}
}

// addUnlabelled adds tenants that nothing labels: a Kustomization outside of Flux's
// namespace that applies a source of its own namespace as an account which is granted
// something in namespaces only. The tenant is called as the account; where that carries the label
// of a tenant that there is, its namespaces are that one's.
func (c *cluster) addUnlabelled() {
	for _, namespace := range slices.Sorted(maps.Keys(c.index.reconcilers)) {
		for _, o := range c.index.reconcilers[namespace] {
			a := account{o.Namespace, o.Text("spec", "serviceAccountName")}
			if o.Kind != "Kustomization" || a.name == "" || c.isSystem(o.Namespace) || c.byNamespace[o.Namespace] != nil ||
				!isOwnSource(o) || o.Field("spec", "kubeConfig") != nil {
				continue
			}
			own := map[string]*reconcile.Object{}
			for _, g := range c.index.granted[a] {
				if g.namespace != "" && !c.isSystem(g.namespace) && c.byNamespace[g.namespace] == nil {
					own[g.namespace] = c.namespace(g.namespace)
				}
			}
			if len(own) == 0 {
				continue
			}
			own[o.Namespace] = c.namespace(o.Namespace)
			if label := c.accountLabel(a); label != "" {
				if i := slices.IndexFunc(c.tenants, func(t *tenant) bool { return t.name == label }); i >= 0 {
					c.extend(c.tenants[i], own)
					continue
				}
			}
			c.add(&tenant{name: a.name, namespaces: own, accounts: map[account]bool{}})
		}
	}
}

func (c *cluster) namespace(name string) *reconcile.Object {
	for _, o := range c.Find(reconcile.Identity{Kind: "Namespace", Name: name}) {
		return o
	}
	return nil
}

// addAccounts adds the accounts in a tenant's namespaces, those with its label, and
// those that Flux uses there.
func (c *cluster) addAccounts(t *tenant) {
	for namespace := range t.namespaces {
		for _, o := range c.index.accounts[namespace] {
			t.accounts[account{o.Namespace, o.Name}] = true
		}
		for _, o := range c.index.reconcilers[namespace] {
			if name := o.Text("spec", "serviceAccountName"); name != "" {
				t.accounts[account{o.Namespace, name}] = true
			}
		}
		for _, a := range c.index.subjects[namespace] {
			t.accounts[a] = true
		}
	}
	for _, o := range c.index.labelled[t.name] {
		t.accounts[account{o.Namespace, o.Name}] = true
	}
	for a := range t.accounts {
		if other := c.byAccount[a]; other == nil || other.name > t.name {
			c.byAccount[a] = t
		}
	}
}

// firstIncomplete is the first Kustomization, other than a tenant's, that has a gap or
// failed: what the platform sets up for its tenants may be there.
func (c *cluster) firstIncomplete() *reconcile.Kustomization {
	for _, k := range c.Kustomizations {
		if !k.Complete() && c.tenantOf(k) == nil {
			return k
		}
	}
	return nil
}

// tenantOf is the tenant that a Kustomization belongs to, by its namespace, its account or
// its parents; nil for the platform's.
func (c *cluster) tenantOf(k *reconcile.Kustomization) *tenant {
	for ; k != nil; k = k.Parent {
		if t := c.byNamespace[k.Namespace]; t != nil {
			return t
		}
		if t := c.ownerOf(account{k.Namespace, k.Spec.ServiceAccountName}); t != nil {
			return t
		}
	}
	return nil
}

// ownerOf is the tenant that an account belongs to.
func (c *cluster) ownerOf(a account) *tenant { return c.byAccount[a] }

// unlessComplete reports a question ("whether …") as unresolved where objects of the platform are not
// known, and says whether it did.
func (c *cluster) unlessComplete(p *rule.Pass, question string) bool {
	k := c.incomplete
	if k == nil {
		return false
	}
	file, line := c.Root.File, c.Root.Line
	if k.Object != nil {
		file, line, _ = k.Object.Position("spec", "sourceRef")
	}
	p.Unresolved(file, line, "cannot tell "+question+": Kustomization "+k.String()+" could not be fully built")
	return true
}

// sorted are the names of a tenant's namespaces.
func (t *tenant) sorted() []string { return slices.Sorted(maps.Keys(t.namespaces)) }
