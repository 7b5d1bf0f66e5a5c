// Package tenant holds the rules about clusters that several teams share: they check that each tenant is confined to its
// namespaces. They all use one model of a cluster's tenants. A cluster without tenants has no findings.
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

// The labels that name the tenant of a namespace: the label of `flux create tenant`, which other tools also use, and the
// label of Capsule.
const (
	labelTenant  = "toolkit.fluxcd.io/tenant"
	labelCapsule = "capsule.clastix.io/tenant"
)

// The API groups of the kinds that are checked.
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
	// namespaces are the tenant's Namespaces by name; the object is nil if it is not in Git.
	namespaces map[string]*reconcile.Object
	// capsule reports whether Capsule manages the tenant.
	capsule  bool
	accounts map[account]bool
}

// cluster is a cluster with its tenants.
type cluster struct {
	*reconcile.Cluster
	// flux is the namespace of Flux's controllers.
	flux string
	// tenants are the tenants in the order of their names; never empty.
	tenants     []*tenant
	byNamespace map[string]*tenant
	byAccount   map[account]*tenant
	index       index
	grants      []grant
	// roles caches the roles that were read. Rules run in parallel, so each has a copy of the cluster with its
	// own cache.
	roles    map[*reconcile.Object]*role
	lockdown lockdown
	policies policies
	// incomplete is the first Kustomization of the platform for which not all objects are known; nil if all are
	// known.
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

// clusters returns the clusters of the pass that have tenants.
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

// modelOf returns the model of a cluster's tenants; nil if it has none.
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
	c.lockdown = lockdownOf(repo, c)
	c.addUnlabelled()
	if len(c.tenants) == 0 || ctx.Err() != nil {
		return nil
	}
	for _, t := range c.tenants {
		c.addAccounts(t)
	}
	c.incomplete = c.firstIncomplete()
	c.policies = policiesOf(c)
	return c
}

// labelled returns the namespaces with a tenant's label, by tenant. Flux's own namespace belongs to the
// platform, whatever its label is.
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

// isSystem reports whether a namespace belongs to Flux or Kubernetes.
func (c *cluster) isSystem(namespace string) bool {
	return namespace == c.flux || namespace == "flux-system" || strings.HasPrefix(namespace, "kube-")
}

// isEvident reports whether a label really marks a tenant. Many repositories label namespaces by team and apply
// everything as cluster-admin. A tenant has a Kustomization that applies a source in its namespace with an
// account there. Or it has a role in its namespace that is bound to an account that Flux, and not a workload,
// uses.
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

// isForReconciler reports whether a grant in a tenant's namespace is for the account that Flux uses for the
// tenant. Flux uses the account, or the account has the tenant's label, or the role is one for users and tools,
// such as the one that `flux create tenant` binds.
func (c *cluster) isForReconciler(t *tenant, g grant) bool {
	if g.account.name == "" || c.index.workloads[g.account] {
		return false
	}
	_, own := t.namespaces[g.account.namespace]
	return own && (c.index.used[g.account] || g.isBuiltIn() && g.roleName != "view") || c.accountLabel(g.account) == t.name
}

// isOwnSource reports whether the source of a Kustomization is in its own namespace.
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

// isReconciler reports whether an object is a Kustomization, HelmRelease or ResourceSet.
func isReconciler(o *reconcile.Object) bool {
	return o.Group == fluxapi.KustomizeGroup && o.Kind == "Kustomization" || o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" ||
		o.Group == fluxapi.OperatorGroup && o.Kind == "ResourceSet"
}

func (c *cluster) add(t *tenant) {
	c.tenants = append(c.tenants, t)
	c.extend(t, t.namespaces)
}

// extend adds namespaces to a tenant.
func (c *cluster) extend(t *tenant, namespaces map[string]*reconcile.Object) {
	for name, o := range namespaces {
		t.namespaces[name] = o
		c.byNamespace[name] = t
	}
}

// addUnlabelled adds tenants that have no label. Such a tenant has a Kustomization outside Flux's namespace, which
// applies a source in its own namespace, with an account that has grants only in namespaces. The platform may sync its
// own components in the same way. In that case it also runs workloads in these namespaces, or applies the same path to
// several of them; such namespaces are not tenants. The tenant has the name of the account, or of
// the namespace if the account is Flux's default, which has the same name for all tenants. If the account has the label
// of a known tenant, the namespaces are added to that tenant.
func (c *cluster) addUnlabelled() {
	shared := c.shared()
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
			if c.runsIn(own) || shared[c.applied(o)] {
				continue
			}
			if label := c.accountLabel(a); label != "" {
				if i := slices.IndexFunc(c.tenants, func(t *tenant) bool { return t.name == label }); i >= 0 {
					c.extend(c.tenants[i], own)
					continue
				}
			}
			name := a.name
			if name == c.lockdown.account {
				name = a.namespace
			}
			c.add(&tenant{name: name, namespaces: own, accounts: map[account]bool{}})
		}
	}
}

// shared returns the paths, in the form that applied returns, that Kustomizations in several namespaces apply from
// sources in their namespace.
func (c *cluster) shared() map[string]bool {
	in, shared := map[string]string{}, map[string]bool{}
	for namespace, all := range c.index.reconcilers {
		for _, o := range all {
			if o.Kind != "Kustomization" || o.Text("spec", "serviceAccountName") == "" || !isOwnSource(o) {
				continue
			}
			what := c.applied(o)
			if first, ok := in[what]; ok && first != namespace {
				shared[what] = true
			}
			in[what] = namespace
		}
	}
	return shared
}

// applied identifies the files that a Kustomization applies: the address of its source, and the path. Unknown sources are
// all different.
func (c *cluster) applied(o *reconcile.Object) string {
	kind, name := o.Text("spec", "sourceRef", "kind"), o.Text("spec", "sourceRef", "name")
	for _, source := range c.Find(reconcile.Identity{Group: fluxapi.SourceGroup, Kind: kind, Namespace: o.Namespace, Name: name}) {
		return strings.Join([]string{kind, source.Text("spec", "url"), source.Text("spec", "bucketName"), repository.Clean(o.Text("spec", "path"))}, " ")
	}
	return strings.Join([]string{kind, o.Namespace, name}, " ")
}

// runsIn reports whether Kustomizations outside the namespaces apply workloads or releases to one of them.
func (c *cluster) runsIn(own map[string]*reconcile.Object) bool {
	for name := range own {
		for from := range c.index.runs[name] {
			if _, inside := own[from]; !inside {
				return true
			}
		}
	}
	return false
}

func (c *cluster) namespace(name string) *reconcile.Object {
	for _, o := range c.Find(reconcile.Identity{Kind: "Namespace", Name: name}) {
		return o
	}
	return nil
}

// addAccounts adds the service accounts of a tenant: accounts in its namespaces, accounts with its label, and accounts
// that Flux uses there.
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

// firstIncomplete returns the first Kustomization of the platform that could not be fully built. Objects that the
// platform creates for its tenants may be in it.
func (c *cluster) firstIncomplete() *reconcile.Kustomization {
	for _, k := range c.Kustomizations {
		if !k.Complete() && c.tenantOf(k) == nil {
			return k
		}
	}
	return nil
}

// tenantOf returns the tenant that a Kustomization belongs to, by its namespace, its account or its parents; nil for a
// Kustomization of the platform.
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

// ownerOf returns the tenant that an account belongs to.
func (c *cluster) ownerOf(a account) *tenant { return c.byAccount[a] }

// unlessComplete reports a question ("whether …") as unresolved if not all objects of the platform are known,
// and returns whether it did.
func (c *cluster) unlessComplete(p *rule.Pass, question string) bool {
	k := c.incomplete
	if k == nil {
		return false
	}
	at := c.Root.Place
	if k.Object != nil {
		at = k.Object.Position("spec", "sourceRef")
	}
	p.Unresolved(at, "cannot decide "+question+": Kustomization "+k.String()+" could not be fully built")
	return true
}

// sorted returns the sorted names of a tenant's namespaces.
func (t *tenant) sorted() []string { return slices.Sorted(maps.Keys(t.namespaces)) }

// Owns reports whether a namespace of a cluster belongs to a tenant.
func Owns(p *rule.Pass, of *reconcile.Cluster, namespace string) bool {
	m := models.Of(p)[of.Name]
	return m != nil && m.byNamespace[namespace] != nil
}

// DefaultAccount returns the service account with which a controller applies objects without a serviceAccountName, in a
// cluster without tenants. It returns "" if the controller uses its own account, if that is unknown, or if there are
// tenants, because tenant-service-account-missing checks these.
func DefaultAccount(p *rule.Pass, of *reconcile.Cluster, controller string) string {
	if models.Of(p)[of.Name] != nil {
		return ""
	}
	if l := lockdownOf(p.Repo, &cluster{Cluster: of}); l.known && !l.lacks(flagAccount, controller) {
		return l.account
	}
	return ""
}
