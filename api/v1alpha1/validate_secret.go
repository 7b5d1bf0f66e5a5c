package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// clusterNamespaces are there on every cluster.
var clusterNamespaces = []string{"default", FluxNamespace, "kube-public", "kube-system"}

// typeKeys are the keys that the API server wants in a Secret of a type: all of
// them, or one where any is set.
// Source: k8s.io/kubernetes pkg/apis/core/validation, ValidateSecret.
var typeKeys = map[string]struct {
	keys []string
	any  bool
}{
	"kubernetes.io/basic-auth":       {[]string{"password", "username"}, true},
	"kubernetes.io/dockercfg":        {[]string{".dockercfg"}, false},
	"kubernetes.io/dockerconfigjson": {[]string{".dockerconfigjson"}, false},
	"kubernetes.io/ssh-auth":         {[]string{"ssh-privatekey"}, false},
	"kubernetes.io/tls":              {[]string{"tls.crt", "tls.key"}, false},
}

// secrets checks the declared Secrets.
func (c *checker) secrets(e *Encryption) {
	declared := map[string][]*DeclaredSecret{}
	for _, d := range slices.Concat(c.spec.k0rdentSecrets(), c.spec.kommanderSecrets()) {
		declared[d.String()] = append(declared[d.String()], d)
	}
	for i, d := range c.spec.ownSecrets() {
		p := at("spec", "secrets").item(i)
		c.secretScope(e, p, d)
		c.secretKeys(e, p, d)
		c.labels(e, p.child("labels"), d.Labels)
		c.annotations(e, p.child("annotations"), d.Annotations)
		if d.Namespace == "" || !c.whole(e) {
			continue
		}
		if c.rootKey(e, d) {
			c.fail(e, p.child("name"), "make it by hand on the cluster, with the key that fleetwright secrets keygen writes to a file",
				"%s is the cluster's own key, which opens all others: it never stands in Git, not even encrypted", d)
			continue
		}
		c.secretNamespace(e, p, d)
		c.secretReaders(e, p, d)
		for _, other := range declared[d.String()] {
			if c.twice(e, p, d, other) {
				break
			}
		}
		declared[d.String()] = append(declared[d.String()], d)
	}
}

// rootKey says whether a Secret is a cluster's own key, which Kommander has a copy of.
func (c *checker) rootKey(e *Encryption, d *DeclaredSecret) bool {
	return d.Namespace == FluxNamespace && d.Name == e.Spec.SecretRef.Name ||
		c.spec.Kommander != nil && d.Namespace == KommanderNamespace && d.Name == KommanderAgeSecret
}

// twice refuses a Secret that another declaration gives to the same cluster.
func (c *checker) twice(e *Encryption, p *fieldPath, d, other *DeclaredSecret) bool {
	on := c.bothOn(d, other)
	switch {
	case on == "":
		return false
	case other.Product != "":
		c.fail(e, p.child("name"), "leave it out here: where its values come from is said there", "Secret %s is one that the %s declares", d, productKinds[other.Product])
	default:
		c.fail(e, p.child("name"), "leave one of them out, or give each other clusters", "Secret %s is declared twice for cluster %s", d, quote(on))
	}
	return true
}

// productKinds are the kinds of platform products.
var productKinds = map[string]string{ProductK0rdent: KindK0rdent, ProductKommander: KindKommander}

// secretScope checks what a scope refers to.
func (c *checker) secretScope(e *Encryption, p *fieldPath, d *DeclaredSecret) {
	if c.objects[e].bad[p.child("scope").String()] {
		return
	}
	selects := len(d.Clusters.Names)+len(d.Clusters.Environments)+len(d.Clusters.MatchLabels) > 0
	switch {
	case d.Scope != ScopeTenant && d.Tenant != "":
		c.failKey(e, p.child("tenant"), "write scope: tenant", "%s is for scope tenant, the scope is %s", p.child("tenant"), d.Scope)
	case d.Scope != ScopeClusters && selects:
		c.failKey(e, p.child("clusters"), "write scope: clusters", "%s is for scope clusters, the scope is %s", p.child("clusters"), d.Scope)
	case d.Scope == ScopeTenant && d.Tenant == "":
		c.fail(e, p.child("tenant"), "name the tenant that the Secret is for", "%s is missing: the scope is tenant", p.child("tenant"))
	case d.Scope == ScopeTenant && c.spec.Tenant(d.Tenant) == nil:
		var names []string
		for _, t := range c.spec.Tenants {
			names = append(names, t.Metadata.Name)
		}
		if !c.incomplete {
			c.fail(e, p.child("tenant"), c.report.suggest(d.Tenant, "tenant", "add an object of kind Tenant", names), "there is no tenant %s", quote(d.Tenant))
		}
	case d.Scope == ScopeClusters:
		c.selector(e, p.child("clusters"), d.Clusters)
	}
	if d.Namespace == "" && d.Scope != ScopeTenant {
		c.fail(e, p.child("namespace"), "name the namespace of the Secret", "%s is missing", p.child("namespace"))
	}
}

// secretNamespace checks that the namespace is one that the specification makes
// on each cluster of a Secret, or a cluster has by itself.
func (c *checker) secretNamespace(e *Encryption, p *fieldPath, d *DeclaredSecret) {
	if c.incomplete {
		return
	}
	p = p.child("namespace")
	if d.Scope == ScopeTenant {
		if t := c.spec.Tenant(d.Tenant); t != nil {
			if own := append(slices.Clone(t.Spec.Namespaces), t.Spec.SyncNamespace); !slices.Contains(own, d.Namespace) {
				c.fail(e, p, c.report.suggest(d.Namespace, "namespace", "add it to spec.namespaces of the Tenant", own), "tenant %s has no namespace %s", quote(d.Tenant), quote(d.Namespace))
			}
		}
		return
	}
	clusters := c.spec.SecretClusters(d)
	for _, cluster := range clusters {
		name, there := cluster.Metadata.Name, c.namespacesOn(cluster)
		switch product := c.spec.SecretOn(cluster, d).Product; {
		case product != "" && d.Scope == ScopePlatform && len(clusters) > 1:
			c.fail(e, p, onlyOn(name), "namespace %s is the %s's, on cluster %s: a Secret of scope platform is for all clusters, and applied with their add-ons",
				quote(d.Namespace), productKinds[product], quote(name))
			return
		case !slices.Contains(there, d.Namespace):
			owner := "add-on"
			if len(c.spec.Products(cluster)) > 0 {
				owner = "add-on or platform product"
			}
			c.fail(e, p, c.namespaceHint(d, cluster, there), "no %s of cluster %s has the namespace %s: the Secret could not be applied", owner, quote(name), quote(d.Namespace))
			return
		}
	}
}

// namespacesOn are those of a cluster that a Secret may stand in: its own, the
// add-ons' and the platform products'.
func (c *checker) namespacesOn(cluster *Cluster) []string {
	there := slices.Clone(clusterNamespaces)
	for _, a := range c.spec.Addons {
		if c.on[a][cluster.Metadata.Name] {
			there = append(there, a.Spec.Namespace)
		}
	}
	for _, product := range c.spec.Products(cluster) {
		there = append(there, slices.Sorted(maps.Keys(c.spec.productNamespaces(product)))...)
	}
	return there
}

// namespaceHint is the way out for a Secret in a namespace that a cluster doesn't have.
func (c *checker) namespaceHint(d *DeclaredSecret, cluster *Cluster, there []string) string {
	for _, other := range c.spec.SecretClusters(d) {
		if c.spec.SecretOn(other, d).Product != "" {
			return onlyOn(other.Metadata.Name)
		}
	}
	for _, t := range c.spec.Tenants {
		if slices.Contains(append(slices.Clone(t.Spec.Namespaces), t.Spec.SyncNamespace), d.Namespace) {
			return "it is a tenant's: write scope: tenant and tenant: " + t.Metadata.Name
		}
	}
	add := "add an object of kind Addon with spec.namespace: " + d.Namespace
	switch products := c.spec.Products(cluster); {
	case slices.Contains(products, ProductK0rdent):
		add = "add it to spec.namespaces of the K0rdent, or " + add
	case slices.Contains(products, ProductKommander):
		add = "give it to a workspace or project of the Kommander, or " + add
	}
	return c.report.suggest(d.Namespace, "namespace", add, there)
}

// onlyOn gives a Secret to one cluster.
func onlyOn(cluster string) string {
	return fmt.Sprintf("write scope: clusters and clusters: {names: [%s]}", cluster)
}

// secretReaders checks that each cluster that applies a Secret can decrypt it.
func (c *checker) secretReaders(e *Encryption, p *fieldPath, d *DeclaredSecret) {
	for _, cluster := range c.spec.SecretClusters(d) {
		name := cluster.Metadata.Name
		if !c.keyless && len(e.Spec.Recipients.Clusters[name].Age) == 0 {
			c.fail(e, p, fmt.Sprintf("add the cluster's public key to spec.recipients.clusters.%s; fleetwright secrets keygen --cluster %[1]s makes one", name),
				"cluster %s has no recipients: it could not decrypt Secret %s", quote(name), d)
			return
		}
	}
}

// bothOn is the first cluster that applies both of two Secrets, or "".
func (c *checker) bothOn(a, b *DeclaredSecret) string {
	others := c.spec.SecretClusters(b)
	for _, cluster := range c.spec.SecretClusters(a) {
		if slices.Contains(others, cluster) {
			return cluster.Metadata.Name
		}
	}
	return ""
}

// secretKeys checks the keys of a Secret and where their values come from.
func (c *checker) secretKeys(e *Encryption, p *fieldPath, d *DeclaredSecret) {
	seen := map[string]bool{}
	for i, k := range d.Keys {
		at := p.child("keys").item(i)
		c.secretSource(e, at.child("from"), k.From)
		names := []string{k.Name}
		if k.From.SSHKeyPair != nil {
			names = append(names, k.Name+PublicSuffix)
		}
		for _, name := range names {
			if name != "" && seen[name] {
				c.fail(e, at.child("name"), "take one of them out", "Secret %s has the key %s twice", d, quote(name))
			}
			seen[name] = true
		}
		if k.From.AgeKey != nil && c.spec.TenantKey(d) != nil && !strings.HasSuffix(k.Name, ".agekey") {
			c.fail(e, at.child("name"), "write name: age.agekey", "the key is named %s: kustomize-controller reads keys of age from names that end in .agekey", quote(k.Name))
		}
	}
	want, known := typeKeys[d.Type]
	if !known || !c.whole(e) {
		return
	}
	var missing []string
	for _, name := range want.keys {
		if !seen[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) == len(want.keys) || len(missing) > 0 && !want.any {
		c.fail(e, p.child("keys"), "add what the type wants, or take the type out", "a Secret of type %s has %s: %s is missing",
			d.Type, map[bool]string{true: oneOf(want.keys), false: strings.Join(want.keys, " and ")}[want.any], oneOf(missing))
	}
}

// secretSource checks that a value comes from one place.
func (c *checker) secretSource(of any, p *fieldPath, s SecretSource) {
	if set := s.set(); len(set) != 1 && c.whole(of) {
		c.fail(of, p, "set exactly one of them: a value comes from one place", "%s has %d of %s", p, len(set), "env, file, generate, ageKey and sshKeyPair")
	}
}
