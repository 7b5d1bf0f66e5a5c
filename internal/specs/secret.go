package specs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// clusterNamespaces exist on every cluster.
var clusterNamespaces = []string{"default", v1alpha1.FluxNamespace, "kube-public", "kube-system"}

// typeKeys are the keys that the API server requires in a Secret of a type: all of
// them, or, if any is set, one of them.
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
func (c *specChecker) secrets(e *v1alpha1.Encryption) {
	declared := map[string][]*v1alpha1.DeclaredSecret{}
	for _, d := range c.Spec.ProductSecrets() {
		declared[d.String()] = append(declared[d.String()], d)
	}
	for i, d := range c.Spec.OwnSecrets() {
		p := strict.At("spec", "secrets").Item(i)
		c.secretScope(e, p, d)
		c.secretKeys(e, p, d)
		c.Labels(e, p.Child("labels"), d.Labels)
		c.Annotations(e, p.Child("annotations"), d.Annotations)
		if d.Namespace == "" || !c.Whole(e) {
			continue
		}
		if c.rootKey(e, d) {
			c.Fail(e, p.Child("name"), "create it by hand on the cluster, with the key that fleetwright secrets keygen writes to a file",
				"%s is the cluster's own key, which decrypts all others: it must not be in Git, not even encrypted", d)
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

// rootKey reports whether a Secret is a cluster's own key, or a product's copy of it.
func (c *specChecker) rootKey(e *v1alpha1.Encryption, d *v1alpha1.DeclaredSecret) bool {
	return d.Namespace == v1alpha1.FluxNamespace && d.Name == e.Spec.SecretRef.Name ||
		slices.ContainsFunc(c.Spec.Products, func(p v1alpha1.Product) bool { return p.CopiesClusterKey(d.Namespace, d.Name) })
}

// twice reports a Secret that another declaration creates on the same cluster.
func (c *specChecker) twice(e *v1alpha1.Encryption, p *strict.Path, d, other *v1alpha1.DeclaredSecret) bool {
	on := c.bothOn(d, other)
	switch {
	case on == "":
		return false
	case other.Product != "":
		c.Fail(e, p.Child("name"), "remove it here: the other declaration says where its values come from", "Secret %s is already declared by the %s", d, c.productKind(other.Product))
	default:
		c.Fail(e, p.Child("name"), "remove one of them, or use different clusters", "Secret %s is declared twice for cluster %s", d, strict.Quote(on))
	}
	return true
}

// productKind returns the kind of a product's object.
func (c *specChecker) productKind(name string) string {
	for _, p := range c.Spec.Products {
		if p.ProductName() == name {
			return c.Objects[p].Kind
		}
	}
	return name
}

// secretScope checks the cluster or tenant that a scope refers to.
func (c *specChecker) secretScope(e *v1alpha1.Encryption, p *strict.Path, d *v1alpha1.DeclaredSecret) {
	if c.Objects[e].Bad[p.Child("scope").String()] {
		return
	}
	selects := len(d.Clusters.Names)+len(d.Clusters.Environments)+len(d.Clusters.MatchLabels) > 0
	switch {
	case d.Scope != v1alpha1.ScopeTenant && d.Tenant != "":
		c.FailKey(e, p.Child("tenant"), "write scope: tenant", "%s is for scope tenant, the scope is %s", p.Child("tenant"), d.Scope)
	case d.Scope != v1alpha1.ScopeClusters && selects:
		c.FailKey(e, p.Child("clusters"), "write scope: clusters", "%s is for scope clusters, the scope is %s", p.Child("clusters"), d.Scope)
	case d.Scope == v1alpha1.ScopeTenant && d.Tenant == "":
		c.Fail(e, p.Child("tenant"), "set the tenant that the Secret is for", "%s is missing, but is required with scope tenant", p.Child("tenant"))
	case d.Scope == v1alpha1.ScopeTenant && c.Spec.Tenant(d.Tenant) == nil:
		var names []string
		for _, t := range c.Spec.Tenants {
			names = append(names, t.Metadata.Name)
		}
		if !c.Incomplete {
			c.Fail(e, p.Child("tenant"), c.Report.Suggest(d.Tenant, "tenant", "add an object of kind Tenant", names), "tenant %s does not exist", strict.Quote(d.Tenant))
		}
	case d.Scope == v1alpha1.ScopeClusters:
		c.selector(e, p.Child("clusters"), d.Clusters)
	}
	if d.Namespace == "" && d.Scope != v1alpha1.ScopeTenant {
		c.Fail(e, p.Child("namespace"), "set the namespace of the Secret", "%s is missing", p.Child("namespace"))
	}
}

// secretNamespace checks that each cluster of a Secret has the Secret's namespace: the specification creates it there, or
// every cluster has it.
func (c *specChecker) secretNamespace(e *v1alpha1.Encryption, p *strict.Path, d *v1alpha1.DeclaredSecret) {
	if c.Incomplete {
		return
	}
	p = p.Child("namespace")
	if d.Scope == v1alpha1.ScopeTenant {
		if t := c.Spec.Tenant(d.Tenant); t != nil {
			if own := append(slices.Clone(t.Spec.Namespaces), t.Spec.SyncNamespace); !slices.Contains(own, d.Namespace) {
				c.Fail(e, p, c.Report.Suggest(d.Namespace, "namespace", "add it to spec.namespaces of the Tenant", own), "tenant %s has no namespace %s", strict.Quote(d.Tenant), strict.Quote(d.Namespace))
			}
		}
		return
	}
	clusters := c.Spec.SecretClusters(d)
	for _, cluster := range clusters {
		name, there := cluster.Metadata.Name, c.namespacesOn(cluster)
		switch product := c.Spec.SecretOn(cluster, d).Product; {
		case product != "" && d.Scope == v1alpha1.ScopePlatform && len(clusters) > 1:
			c.Fail(e, p, onlyOn(name), "namespace %s belongs to the %s, on cluster %s: a Secret of scope platform is applied on all clusters, with their add-ons",
				strict.Quote(d.Namespace), c.productKind(product), strict.Quote(name))
			return
		case !slices.Contains(there, d.Namespace):
			owner := "add-on"
			if len(c.Spec.ProductsOn(cluster)) > 0 {
				owner = "add-on or platform product"
			}
			c.Fail(e, p, c.namespaceHint(d, cluster, there), "no %s of cluster %s has namespace %s, so the Secret could not be applied", owner, strict.Quote(name), strict.Quote(d.Namespace))
			return
		}
	}
}

// namespacesOn returns the namespaces of a cluster that may contain a Secret: its own, the
// add-ons' and the platform products'.
func (c *specChecker) namespacesOn(cluster *v1alpha1.Cluster) []string {
	there := slices.Clone(clusterNamespaces)
	for _, a := range c.Spec.Addons {
		if c.on[a][cluster.Metadata.Name] {
			there = append(there, a.Spec.Namespace)
		}
	}
	for _, product := range c.Spec.ProductsOn(cluster) {
		there = append(there, slices.Sorted(maps.Keys(product.NamespaceSteps()))...)
	}
	return there
}

// namespaceHint returns the hint for a Secret in a namespace that a cluster doesn't have.
func (c *specChecker) namespaceHint(d *v1alpha1.DeclaredSecret, cluster *v1alpha1.Cluster, there []string) string {
	for _, other := range c.Spec.SecretClusters(d) {
		if c.Spec.SecretOn(other, d).Product != "" {
			return onlyOn(other.Metadata.Name)
		}
	}
	for _, t := range c.Spec.Tenants {
		if slices.Contains(append(slices.Clone(t.Spec.Namespaces), t.Spec.SyncNamespace), d.Namespace) {
			return "it belongs to a tenant: write scope: tenant and tenant: " + t.Metadata.Name
		}
	}
	add := "add an object of kind Addon with spec.namespace: " + d.Namespace
	if products := c.Spec.ProductsOn(cluster); len(products) > 0 {
		add = products[0].AddNamespace() + ", or " + add
	}
	return c.Report.Suggest(d.Namespace, "namespace", add, there)
}

// onlyOn returns the hint that restricts a Secret to one cluster.
func onlyOn(cluster string) string {
	return fmt.Sprintf("write scope: clusters and clusters: {names: [%s]}", cluster)
}

// secretReaders checks that each cluster that applies a Secret can decrypt it.
func (c *specChecker) secretReaders(e *v1alpha1.Encryption, p *strict.Path, d *v1alpha1.DeclaredSecret) {
	for _, cluster := range c.Spec.SecretClusters(d) {
		name := cluster.Metadata.Name
		if !c.Keyless && len(e.Spec.Recipients.Clusters[name].Age) == 0 {
			c.Fail(e, p, fmt.Sprintf("add the cluster's public key to spec.recipients.clusters.%s; fleetwright secrets keygen --cluster %[1]s generates one", name),
				"cluster %s has no recipients, so it could not decrypt Secret %s", strict.Quote(name), d)
			return
		}
	}
}

// bothOn returns the first cluster that applies both Secrets, or "".
func (c *specChecker) bothOn(a, b *v1alpha1.DeclaredSecret) string {
	others := c.Spec.SecretClusters(b)
	for _, cluster := range c.Spec.SecretClusters(a) {
		if slices.Contains(others, cluster) {
			return cluster.Metadata.Name
		}
	}
	return ""
}

// secretKeys checks the keys of a Secret and the sources of their values.
func (c *specChecker) secretKeys(e *v1alpha1.Encryption, p *strict.Path, d *v1alpha1.DeclaredSecret) {
	seen := map[string]bool{}
	for i, k := range d.Keys {
		at := p.Child("keys").Item(i)
		c.SecretSource(e, at.Child("from"), k.From)
		names := []string{k.Name}
		if k.From.SSHKeyPair != nil {
			names = append(names, k.Name+v1alpha1.PublicSuffix)
		}
		for _, name := range names {
			if name != "" && seen[name] {
				c.Fail(e, at.Child("name"), "remove one of them", "Secret %s has the key %s twice", d, strict.Quote(name))
			}
			seen[name] = true
		}
		if k.From.AgeKey != nil && c.Spec.TenantKey(d) != nil && !strings.HasSuffix(k.Name, ".agekey") {
			c.Fail(e, at.Child("name"), "write name: age.agekey", "the key is named %s, but kustomize-controller reads age keys only from names that end in .agekey", strict.Quote(k.Name))
		}
	}
	want, known := typeKeys[d.Type]
	if !known || !c.Whole(e) {
		return
	}
	var missing []string
	for _, name := range want.keys {
		if !seen[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) == len(want.keys) || len(missing) > 0 && !want.any {
		c.Fail(e, p.Child("keys"), "add the keys that the type requires, or remove the type", "a Secret of type %s requires %s: %s is missing",
			d.Type, map[bool]string{true: strict.OneOf(want.keys), false: strings.Join(want.keys, " and ")}[want.any], strict.OneOf(missing))
	}
}
