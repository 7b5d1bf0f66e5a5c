package specs

import (
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

func (c *specChecker) tenants() {
	places := slices.Sorted(slices.Values(slices.Concat(c.Known.Clusters, c.Known.Environments)))
	sources := map[string]*v1alpha1.Tenant{}
	for _, t := range c.Spec.Tenants {
		if t.Metadata.Name == "default" {
			c.Fail(t, strict.At("metadata", "name"), "choose another name", "a tenant cannot be named %q: its account would be the default account of each namespace", "default")
		}
		c.shard(t, t.Metadata)
		c.environments(t, places)
		c.source(t)
		c.sharedSource(t, sources)
		c.access(t)
		c.quota(t)
		for i, cidr := range t.Spec.NetworkPolicy.EgressCIDRs {
			if _, err := netip.ParsePrefix(cidr); err != nil {
				c.Fail(t, strict.At("spec", "networkPolicy", "egressCIDRs").Item(i), "write a range such as 10.0.0.0/8 or 2001:db8::/32", "%s is not a CIDR", strict.Quote(cidr))
			}
		}
		for i, prefix := range t.Spec.AllowedSources {
			c.URL(t, strict.At("spec", "allowedSources").Item(i), prefix)
		}
		c.starter(t)
	}
	c.hosts()
}

// starter checks that the tenant may use the chart in the starter of its repository: only allowedSources extends the
// sources that a tenant may use.
func (c *specChecker) starter(t *v1alpha1.Tenant) {
	allowed := func(prefix string) bool {
		rest, within := strings.CutPrefix(v1alpha1.StarterChart, strings.TrimRight(prefix, "/"))
		return within && (rest == "" || rest[0] == '/')
	}
	if t.Spec.Starter != v1alpha1.StarterPodinfo || t.Spec.Source.Kind == v1alpha1.SourceOCI || slices.ContainsFunc(t.Spec.AllowedSources, allowed) {
		return
	}
	c.Fail(t, strict.At("spec", "starter"), "add the chart to allowedSources, or write starter: web, which needs none",
		"the starter podinfo is a release of %s, which allowedSources does not allow", v1alpha1.StarterChart)
}

// hosts checks that no two tenants of a cluster have the same host: each could receive the
// other's traffic.
func (c *specChecker) hosts() {
	for i, t := range c.Spec.Tenants {
		for j, host := range t.Spec.Hosts {
			for _, other := range c.Spec.Tenants[:i] {
				if i := slices.IndexFunc(other.Spec.Hosts, func(o string) bool { return overlap(o, host) }); i >= 0 && c.share(t, other) {
					c.Fail(t, strict.At("spec", "hosts").Item(j), "use different hosts for each tenant", "host %s overlaps with %s of %s", strict.Quote(host), strict.Quote(other.Spec.Hosts[i]), c.Called(other))
				}
			}
		}
	}
}

// overlap reports whether two hosts have a name in common; *.NAME matches all names below NAME.
func overlap(a, b string) bool {
	below := func(host, of string) bool {
		suffix, wildcard := strings.CutPrefix(of, "*")
		return wildcard && strings.HasSuffix(host, suffix)
	}
	return a == b || below(a, b) || below(b, a)
}

// share reports whether two tenants are on the same cluster.
func (c *specChecker) share(a, b *v1alpha1.Tenant) bool {
	if !c.Whole(a) || !c.Whole(b) {
		return false
	}
	on := c.Spec.TenantClusters(b)
	return slices.ContainsFunc(c.Spec.TenantClusters(a), func(at v1alpha1.TenantCluster) bool {
		return slices.ContainsFunc(on, func(o v1alpha1.TenantCluster) bool { return o.Cluster == at.Cluster })
	})
}

func (c *specChecker) environments(t *v1alpha1.Tenant, places []string) {
	if _, _, own := strict.At("spec", "environments").Find(c.Objects[t].Root); !own {
		return // the default: the environments of all clusters
	}
	for _, key := range slices.Sorted(maps.Keys(t.Spec.Environments)) {
		p := strict.At("spec", "environments", key)
		if _, found := slices.BinarySearch(places, key); !found && !c.Incomplete {
			c.FailKey(t, p, c.Report.Suggest(key, "name", "add an object of kind Cluster", places), "cluster or environment %s does not exist", strict.Quote(key))
		}
		if problem := v1alpha1.PathProblem(t.Spec.Environments[key]); problem != "" {
			c.Fail(t, p, "write a path in the source, such as ./"+key, "path %s %s", strict.Quote(t.Spec.Environments[key]), problem)
		}
	}
	if t.Spec.Environments != nil && len(t.Spec.Environments) == 0 && len(c.Spec.Clusters) > 0 {
		c.Fail(t, strict.At("spec", "environments"), "remove the field for every cluster, or list clusters or environments", "the tenant has no cluster")
	}
}

// source checks that the source's kind, URL and reference are compatible.
func (c *specChecker) source(t *v1alpha1.Tenant) {
	s, p := t.Spec.Source, strict.At("spec", "source")
	if _, _, own := p.Child("url").Find(c.Objects[t].Root); own {
		c.URL(t, p.Child("url"), s.URL)
	}
	if problem := v1alpha1.PathProblem(s.Path); problem != "" {
		c.Fail(t, p.Child("path"), "write a path in the source, such as ./deploy", "path %s %s", strict.Quote(s.Path), problem)
	}
	c.Branch(t, p.Child("branch"), s.Branch)
	c.verify(t, p.Child("verify"), s.Verify)
	if s.SemVer != "" {
		if _, err := semver.NewConstraint(s.SemVer); err != nil {
			c.Fail(t, p.Child("semver"), "write a range such as 1.x or >=1.2.0 <2.0.0", "%s is not a version range", strict.Quote(s.SemVer))
		}
	}
	if !c.Whole(t) {
		return
	}
	switch oci := strings.HasPrefix(s.URL, "oci://"); {
	case s.Kind == v1alpha1.SourceOCI && s.URL == "":
		c.Fail(t, p, "add url: oci://…", "an OCIRepository needs a url")
	case s.Kind == v1alpha1.SourceOCI && !oci:
		c.Fail(t, p.Child("url"), "write oci://host/path, or kind: GitRepository", "spec.source.url is %s, but an OCIRepository needs oci://", strict.Quote(s.URL))
	case s.Kind == v1alpha1.SourceGit && oci:
		c.Fail(t, p.Child("url"), "write kind: OCIRepository", "spec.source.url is %s, but a GitRepository cannot be an OCI artifact", strict.Quote(s.URL))
	case s.Kind == v1alpha1.SourceGit && s.Verify != nil:
		c.Fail(t, p.Child("verify"), "take it out", "spec.source.verify needs kind: OCIRepository")
	default:
		c.GitKey(t, p, s.URL, s.SecretRef)
		c.reference(t, p)
	}
}

// reference checks that a source has exactly one reference of its kind.
func (c *specChecker) reference(t *v1alpha1.Tenant, p *strict.Path) {
	s := t.Spec.Source
	var has []string
	for _, ref := range []struct{ name, value string }{{"branch", s.Branch}, {"tag", s.Tag}, {"semver", s.SemVer}} {
		if ref.value != "" {
			has = append(has, ref.name)
		}
	}
	platform := c.Spec.Fleet != nil && c.Spec.OnPlatformRepository(t)
	switch {
	case len(has) > 1:
		c.Fail(t, p.Child(has[1]), "keep one of branch, tag and semver", "spec.source has %s", strings.Join(has, " and "))
	case s.Kind == v1alpha1.SourceOCI && s.Branch != "":
		c.Fail(t, p.Child("branch"), "write tag or semver", "an OCIRepository has no branch")
	case s.Kind == v1alpha1.SourceOCI && len(has) == 0:
		c.Fail(t, p, "add tag or semver", "an OCIRepository needs a tag or semver")
	case platform && s.Branch == "":
		c.Fail(t, p.Child(has[0]), "set branch, or the url of the tenant's own repository", "a tenant in the platform repository needs a branch, not a %s", has[0])
	case platform && s.Branch == c.Spec.Fleet.Spec.Repository.Branch:
		c.Fail(t, p.Child("branch"), "write a separate branch for the tenant, such as tenant/"+t.Metadata.Name,
			"branch %s is the platform's own: whoever can push to it can change the platform", strict.Quote(s.Branch))
	}
}

// sharedSource checks that no two tenants share a repository or branch: the files that Fleetwright
// generates there belong to one tenant. An OCI artifact is not generated, and tenants may share it
// if their paths differ.
func (c *specChecker) sharedSource(t *v1alpha1.Tenant, sources map[string]*v1alpha1.Tenant) {
	s := t.Spec.Source
	if s.URL == "" || !c.Whole(t) {
		return
	}
	id, hint := []string{v1alpha1.RepositoryID(s.URL), s.Branch, s.Tag, s.SemVer}, "use a separate repository or branch for each tenant"
	if s.Kind == v1alpha1.SourceOCI {
		id, hint = append(id, path.Join("/", s.Path)), "use a separate artifact or path for each tenant"
	}
	key := strings.Join(id, "\x00")
	if other := sources[key]; other != nil {
		c.Fail(t, strict.At("spec", "source"), hint, "%s deploys from the same source", c.Called(other))
		return
	}
	sources[key] = t
}

// productNamespace is a namespace that a platform product uses in its cluster.
type productNamespace struct {
	product any
	cluster string
}

// productNamespaces returns the namespaces of all products.
func (c *specChecker) productNamespaces() map[string]productNamespace {
	owners := map[string]productNamespace{}
	for _, p := range c.Spec.Products {
		for _, name := range p.OwnNamespaces() {
			owners[name] = productNamespace{p, p.ManagementCluster()}
		}
	}
	return owners
}

// namespaces checks that each namespace has one owner: a tenant's workloads, a
// tenant's sync, a platform product, or the platform.
func (c *specChecker) namespaces() {
	owners := map[string]any{}
	for _, a := range c.Spec.Addons {
		if owners[a.Spec.Namespace] == nil {
			owners[a.Spec.Namespace] = a
		}
	}
	products := c.productNamespaces()
	claim := func(t *v1alpha1.Tenant, p *strict.Path, name string) {
		owner := owners[name]
		if of, there := products[name]; there && slices.ContainsFunc(c.Spec.TenantClusters(t), func(on v1alpha1.TenantCluster) bool { return on.Cluster == of.cluster }) {
			owner = of.product
		}
		switch {
		case name == "" || !c.Whole(t):
		case len(name) > 63:
			c.Fail(t, p, "set spec.namespaces and spec.syncNamespace", "namespace %s is longer than 63 characters", strict.Quote(name))
		case slices.Contains(check.ReservedNamespaces, name):
			c.Fail(t, p, "choose another namespace", "namespace %s belongs to the cluster, and no tenant can use it", strict.Quote(name))
		case owner == any(t):
			c.Fail(t, p, "use different namespaces; the sync namespace contains keys that workloads must not read", "namespace %s is used twice by the tenant", strict.Quote(name))
		case owner != nil:
			c.Fail(t, p, "choose another namespace", "namespace %s is also used by %s", strict.Quote(name), c.Called(owner))
		default:
			owners[name] = t
		}
	}
	for _, t := range c.Spec.Tenants {
		for i, name := range t.Spec.Namespaces {
			claim(t, strict.At("spec", "namespaces").Item(i), name)
		}
	}
	for _, t := range c.Spec.Tenants {
		claim(t, strict.At("spec", "syncNamespace"), t.Spec.SyncNamespace)
	}
}
