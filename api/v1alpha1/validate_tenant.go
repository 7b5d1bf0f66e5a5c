package v1alpha1

import (
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

func (c *checker) tenants() {
	places := slices.Sorted(slices.Values(slices.Concat(c.known.clusters, c.known.environments)))
	sources := map[string]*Tenant{}
	for _, t := range c.spec.Tenants {
		if t.Metadata.Name == "default" {
			c.fail(t, at("metadata", "name"), "choose another name", "a tenant cannot be named %q: its account would be each namespace's powerless one", "default")
		}
		c.environments(t, places)
		c.source(t)
		c.sharedSource(t, sources)
		c.access(t)
		c.quota(t)
		for i, cidr := range t.Spec.NetworkPolicy.EgressCIDRs {
			if _, err := netip.ParsePrefix(cidr); err != nil {
				c.fail(t, at("spec", "networkPolicy", "egressCIDRs").item(i), "write a range such as 10.0.0.0/8 or 2001:db8::/32", "%s is not a CIDR", quote(cidr))
			}
		}
		for i, prefix := range t.Spec.AllowedSources {
			c.url(t, at("spec", "allowedSources").item(i), prefix)
		}
	}
	c.hosts()
}

// hosts checks that no host is that of two tenants of a cluster: each could take the
// other's traffic.
func (c *checker) hosts() {
	for i, t := range c.spec.Tenants {
		for j, host := range t.Spec.Hosts {
			for _, other := range c.spec.Tenants[:i] {
				if i := slices.IndexFunc(other.Spec.Hosts, func(o string) bool { return overlap(o, host) }); i >= 0 && c.share(t, other) {
					c.fail(t, at("spec", "hosts").item(j), "give each tenant names of its own", "host %s overlaps with %s of %s", quote(host), quote(other.Spec.Hosts[i]), c.called(other))
				}
			}
		}
	}
}

// overlap says whether a name is served by both hosts; *.NAME is all below NAME.
func overlap(a, b string) bool {
	below := func(host, of string) bool {
		suffix, wildcard := strings.CutPrefix(of, "*")
		return wildcard && strings.HasSuffix(host, suffix)
	}
	return a == b || below(a, b) || below(b, a)
}

// share says whether two tenants are on a cluster together.
func (c *checker) share(a, b *Tenant) bool {
	if !c.whole(a) || !c.whole(b) {
		return false
	}
	on := c.spec.TenantClusters(b)
	return slices.ContainsFunc(c.spec.TenantClusters(a), func(at TenantCluster) bool {
		return slices.ContainsFunc(on, func(o TenantCluster) bool { return o.Cluster == at.Cluster })
	})
}

func (c *checker) environments(t *Tenant, places []string) {
	if _, _, own := at("spec", "environments").find(c.objects[t].root); !own {
		return // those of all clusters
	}
	for _, key := range slices.Sorted(maps.Keys(t.Spec.Environments)) {
		p := at("spec", "environments", key)
		if _, found := slices.BinarySearch(places, key); !found && !c.incomplete {
			c.failKey(t, p, c.report.suggest(key, "name", "add an object of kind Cluster", places), "there is no cluster or environment %s", quote(key))
		}
		if problem := pathProblem(t.Spec.Environments[key]); problem != "" {
			c.fail(t, p, "write a path in the source, such as ./"+key, "path %s %s", quote(t.Spec.Environments[key]), problem)
		}
	}
	if t.Spec.Environments != nil && len(t.Spec.Environments) == 0 && len(c.spec.Clusters) > 0 {
		c.fail(t, at("spec", "environments"), "leave it out for every cluster, or name clusters or environments", "the tenant is on no cluster")
	}
}

// source checks that the source's kind, URL and reference agree.
func (c *checker) source(t *Tenant) {
	s, p := t.Spec.Source, at("spec", "source")
	if _, _, own := p.child("url").find(c.objects[t].root); own {
		c.url(t, p.child("url"), s.URL)
	}
	if problem := pathProblem(s.Path); problem != "" {
		c.fail(t, p.child("path"), "write a path in the source, such as ./deploy", "path %s %s", quote(s.Path), problem)
	}
	c.branch(t, p.child("branch"), s.Branch)
	c.verify(t, p.child("verify"), s.Verify)
	if s.SemVer != "" {
		if _, err := semver.NewConstraint(s.SemVer); err != nil {
			c.fail(t, p.child("semver"), "write a range such as 1.x or >=1.2.0 <2.0.0", "%s is not a range of versions", quote(s.SemVer))
		}
	}
	if !c.whole(t) {
		return
	}
	switch oci := strings.HasPrefix(s.URL, "oci://"); {
	case s.Kind == SourceOCI && s.URL == "":
		c.fail(t, p, "add url: oci://…", "an OCIRepository needs a url")
	case s.Kind == SourceOCI && !oci:
		c.fail(t, p.child("url"), "write oci://host/path, or kind: GitRepository", "spec.source.url is %s, an OCIRepository needs oci://", quote(s.URL))
	case s.Kind == SourceGit && oci:
		c.fail(t, p.child("url"), "write kind: OCIRepository", "spec.source.url is %s, a GitRepository cannot be an OCI artifact", quote(s.URL))
	case s.Kind == SourceGit && s.Verify != nil:
		c.fail(t, p.child("verify"), "take it out", "spec.source.verify needs kind: OCIRepository")
	default:
		c.reference(t, p)
	}
}

// reference checks that a source has exactly one reference of its kind.
func (c *checker) reference(t *Tenant, p *fieldPath) {
	s := t.Spec.Source
	var has []string
	for _, ref := range []struct{ name, value string }{{"branch", s.Branch}, {"tag", s.Tag}, {"semver", s.SemVer}} {
		if ref.value != "" {
			has = append(has, ref.name)
		}
	}
	platform := c.spec.Fleet != nil && c.spec.OnPlatformRepository(t)
	switch {
	case len(has) > 1:
		c.fail(t, p.child(has[1]), "keep one of branch, tag and semver", "spec.source has %s", strings.Join(has, " and "))
	case s.Kind == SourceOCI && s.Branch != "":
		c.fail(t, p.child("branch"), "write tag or semver", "an OCIRepository has no branch")
	case s.Kind == SourceOCI && len(has) == 0:
		c.fail(t, p, "add tag or semver", "an OCIRepository needs a tag or semver")
	case platform && s.Branch == "":
		c.fail(t, p.child(has[0]), "write branch, or the url of a repository of the tenant's own", "a tenant in the platform repository follows a branch, not a %s", has[0])
	case platform && s.Branch == c.spec.Fleet.Spec.Repository.Branch:
		c.fail(t, p.child("branch"), "write a branch of the tenant's own, such as tenant/"+t.Metadata.Name,
			"branch %s is the platform's own: whoever writes to it changes the platform", quote(s.Branch))
	}
}

// sharedSource checks that each tenant's repository or branch is its own: what
// Fleetwright generates there is one tenant's. An OCI artifact is not generated,
// and tenants may share it under paths of their own.
func (c *checker) sharedSource(t *Tenant, sources map[string]*Tenant) {
	s := t.Spec.Source
	if s.URL == "" || !c.whole(t) {
		return
	}
	id, hint := []string{repositoryID(s.URL), s.Branch, s.Tag, s.SemVer}, "give each tenant a repository or a branch of its own"
	if s.Kind == SourceOCI {
		id, hint = append(id, path.Join("/", s.Path)), "give each tenant an artifact or a path of its own"
	}
	key := strings.Join(id, "\x00")
	if other := sources[key]; other != nil {
		c.fail(t, at("spec", "source"), hint, "%s deploys from the same source", c.called(other))
		return
	}
	sources[key] = t
}

// controllerNamespaces are those of the cluster's own controllers, reservedNamespaces
// all that a cluster has by itself: they are no tenant's, and no product hands them out.
var (
	controllerNamespaces = []string{FluxNamespace, "kube-node-lease", "kube-public", "kube-system"}
	reservedNamespaces   = append([]string{"default"}, controllerNamespaces...)
)

// productNamespace is a namespace that a platform product has in its cluster.
type productNamespace struct {
	product any
	cluster string
}

// productNamespaces are those of all products. The clusters of k0rdent may stand in
// those of tenants.
func (c *checker) productNamespaces() map[string]productNamespace {
	owners := map[string]productNamespace{}
	if k := c.spec.K0rdent; k != nil {
		owners[K0rdentNamespaceName] = productNamespace{k, k.Spec.Cluster}
	}
	if k := c.spec.Kommander; k != nil {
		names := []string{KommanderNamespace, KommanderFluxNamespace}
		names = append(names, gather(k.Spec.Workspaces, func(w KommanderWorkspace) string { return w.Namespace })...)
		names = append(names, gather(k.Spec.Projects, func(p KommanderProject) string { return p.Namespace })...)
		for _, name := range names {
			owners[name] = productNamespace{k, k.Spec.Cluster}
		}
	}
	return owners
}

// namespaces checks that each namespace has one owner: a tenant's workloads, a
// tenant's sync, a platform product, or the platform.
func (c *checker) namespaces() {
	owners := map[string]any{}
	for _, a := range c.spec.Addons {
		if owners[a.Spec.Namespace] == nil {
			owners[a.Spec.Namespace] = a
		}
	}
	products := c.productNamespaces()
	claim := func(t *Tenant, p *fieldPath, name string) {
		owner := owners[name]
		if of, there := products[name]; there && slices.ContainsFunc(c.spec.TenantClusters(t), func(on TenantCluster) bool { return on.Cluster == of.cluster }) {
			owner = of.product
		}
		switch {
		case name == "" || !c.whole(t):
		case len(name) > 63:
			c.fail(t, p, "set spec.namespaces and spec.syncNamespace", "namespace %s is longer than 63 characters", quote(name))
		case slices.Contains(reservedNamespaces, name):
			c.fail(t, p, "choose another namespace", "namespace %s belongs to the cluster, no tenant may claim it", quote(name))
		case owner == any(t):
			c.fail(t, p, "each of a tenant's namespaces is its own; the sync namespace holds keys that workloads must not read", "namespace %s is claimed twice by the tenant", quote(name))
		case owner != nil:
			c.fail(t, p, "choose another namespace", "namespace %s is claimed by %s too", quote(name), c.called(owner))
		default:
			owners[name] = t
		}
	}
	for _, t := range c.spec.Tenants {
		for i, name := range t.Spec.Namespaces {
			claim(t, at("spec", "namespaces").item(i), name)
		}
	}
	for _, t := range c.spec.Tenants {
		claim(t, at("spec", "syncNamespace"), t.Spec.SyncNamespace)
	}
}
