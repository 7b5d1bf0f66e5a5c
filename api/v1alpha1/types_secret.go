package v1alpha1

import "slices"

// DeclaredSecret is a Secret of Kubernetes whose values stand nowhere in the
// specification: in Git they are encrypted, in a file that `fleetwright secrets
// sync` makes and that is the user's from then on.
type DeclaredSecret struct {
	// Name of the Secret.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=253,pattern=^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"`
	// Namespace of the Secret: flux-system, or one that add-ons or a platform
	// product (kcm-system, a workspace's or a project's) have on each of its
	// clusters; with scope tenant one of the tenant's, by default its sync namespace.
	Namespace string `json:"namespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Type of the Secret, as Kubernetes knows it.
	Type string `json:"type,omitempty" jsonschema:"maxLength=253,default=Opaque,example=kubernetes.io/basic-auth"`
	// Scope says whose the Secret is. platform: all clusters share one file and
	// its values. clusters: each cluster has a file, and values, of its own.
	// tenant: the clusters of a tenant share one file. A file is encrypted to the
	// clusters that apply it and to the platform's recipients.
	Scope SecretScope `json:"scope,omitempty" jsonschema:"enum=platform,enum=clusters,enum=tenant,default=platform"`
	// Clusters that get the Secret, with scope clusters; all by default.
	Clusters ClusterSelector `json:"clusters,omitempty"`
	// Tenant that the Secret is for, with scope tenant.
	Tenant string `json:"tenant,omitempty"`
	// Labels of the Secret.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the Secret.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Keys of the Secret's data.
	Keys []SecretKey `json:"keys" jsonschema:"required,minItems=1"`
	// Product is the platform product that needs the Secret or has its namespace, and
	// Step is the one of its steps that applies it, in its folder; "" for others.
	Product string `json:"-"`
	Step    string `json:"-"`
	// File of the Secret in the platform repository; "" for the layout's own place.
	File string `json:"-"`
}

// SecretScope says whose a declared Secret is.
type SecretScope string

// The scopes of a declared Secret.
const (
	ScopePlatform SecretScope = "platform"
	ScopeClusters SecretScope = "clusters"
	ScopeTenant   SecretScope = "tenant"
)

// SecretKey is a key of a declared Secret.
type SecretKey struct {
	// Name of the key in the Secret's data.
	Name string `json:"name" jsonschema:"required,maxLength=253,pattern=^[-._a-zA-Z0-9]+$,example=password"`
	// From says where the value comes from when the Secret is made: exactly one
	// of its fields is set.
	From SecretSource `json:"from" jsonschema:"required"`
}

// SecretSource is where a value comes from when its Secret is made. A value is
// never taken anew: what stands in Git encrypted stays as it is.
type SecretSource struct {
	// Env names the environment variable that holds the value.
	Env string `json:"env,omitempty" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$,example=ADMIN_PASSWORD"`
	// File holds the value, byte for byte: a path from the folder that fleet/
	// stands in, or an absolute one.
	File string `json:"file,omitempty" jsonschema:"example=../keys/registry.json"`
	// Generate a random text.
	Generate *Generate `json:"generate,omitempty"`
	// AgeKey makes a private key of age (X25519). That of a tenant, the Secret of
	// spec.secretRef in its sync namespace, gets its public key added to the
	// tenant's recipients.
	AgeKey *AgeKey `json:"ageKey,omitempty"`
	// SSHKeyPair makes a key pair: the private key under the key's name, the
	// public one, a deploy key, beside it under NAME.pub. Flux reads identity
	// and identity.pub, and known_hosts, which comes from a file.
	SSHKeyPair *SSHKeyPair `json:"sshKeyPair,omitempty"`
}

// Generate is a random text, of which each character is drawn alike.
type Generate struct {
	// Length in characters.
	Length int `json:"length,omitempty" jsonschema:"minimum=8,maximum=4096,default=32"`
	// Charset that the characters are drawn from: alphanumeric (A-Z, a-z, 0-9),
	// lowercase (a-z, 0-9), letters (A-Z, a-z), digits, hex (0-9, a-f), base64url
	// (A-Z, a-z, 0-9, - and _) or printable (all that ASCII shows, but spaces).
	Charset string `json:"charset,omitempty" jsonschema:"enum=alphanumeric,enum=lowercase,enum=letters,enum=digits,enum=hex,enum=base64url,enum=printable,default=alphanumeric"`
}

// AgeKey is a private key of age; there is nothing to choose.
type AgeKey struct{}

// SSHKeyPair is a key pair for SSH.
type SSHKeyPair struct {
	// Algorithm of the keys: ecdsa (with the curve P-384, which `flux bootstrap`
	// takes) or ed25519.
	Algorithm string `json:"algorithm,omitempty" jsonschema:"enum=ecdsa,enum=ed25519,default=ecdsa"`
}

// Set are the fields of a source that are set.
func (s SecretSource) Set() []string {
	var set []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"env", s.Env != ""}, {"file", s.File != ""}, {"generate", s.Generate != nil}, {"ageKey", s.AgeKey != nil}, {"sshKeyPair", s.SSHKeyPair != nil},
	} {
		if field.set {
			set = append(set, field.name)
		}
	}
	return set
}

// PublicSuffix follows the name of an SSH key pair's private key in the name of
// its public key.
const PublicSuffix = ".pub"

// DataKeys are the keys of the Secret's data, in the order of their declaration.
func (s *DeclaredSecret) DataKeys() []string {
	var names []string
	for _, k := range s.Keys {
		names = append(names, k.Name)
		if k.From.SSHKeyPair != nil {
			names = append(names, k.Name+PublicSuffix)
		}
	}
	return names
}

// String gives namespace/name, as messages name a Secret.
func (s *DeclaredSecret) String() string { return s.Namespace + "/" + s.Name }

// Secrets are the declared Secrets, in the order of their declaration, and those
// that platform products need; none without an Encryption.
func (s *Spec) Secrets() []*DeclaredSecret {
	if s.Encryption == nil {
		return nil
	}
	return slices.Concat(s.OwnSecrets(), s.ProductSecrets())
}

// OwnSecrets are those that the Encryption declares.
func (s *Spec) OwnSecrets() []*DeclaredSecret {
	var out []*DeclaredSecret
	for i := range s.Encryption.Spec.Secrets {
		out = append(out, &s.Encryption.Spec.Secrets[i])
	}
	return out
}

// SecretClusters are the clusters that apply a declared Secret, sorted by name.
func (s *Spec) SecretClusters(d *DeclaredSecret) []*Cluster {
	switch d.Scope {
	case ScopeClusters:
		return s.Selected(d.Clusters)
	case ScopeTenant:
		var out []*Cluster
		if t := s.Tenant(d.Tenant); t != nil {
			for _, on := range s.TenantClusters(t) {
				out = append(out, s.Cluster(on.Cluster))
			}
		}
		return out
	}
	return s.Clusters
}

// SecretOn is a declared Secret as a cluster applies it: one in a namespace of a
// platform product belongs to the product's step that applies what stands there.
// Namespaces that add-ons make, before all products, need none.
func (s *Spec) SecretOn(c *Cluster, d *DeclaredSecret) *DeclaredSecret {
	if d.Product != "" || d.Scope == ScopeTenant || slices.ContainsFunc(s.AddonsOn(c), func(a *Addon) bool { return a.Spec.Namespace == d.Namespace }) {
		return d
	}
	for _, product := range s.ProductsOn(c) {
		if step := product.NamespaceSteps()[d.Namespace]; step != "" {
			on := *d
			on.Product, on.Step = product.ProductName(), step
			return &on
		}
	}
	return d
}

// Tenant returns the tenant of a name, or nil.
func (s *Spec) Tenant(name string) *Tenant {
	for _, t := range s.Tenants {
		if t.Metadata.Name == name {
			return t
		}
	}
	return nil
}

// TenantKey is the tenant whose own key a declared Secret holds: the one that
// the tenant's Kustomization decrypts with, in its sync namespace. It is nil for
// other Secrets.
func (s *Spec) TenantKey(d *DeclaredSecret) *Tenant {
	t := s.Tenant(d.Tenant)
	if d.Scope != ScopeTenant || t == nil || s.Encryption.Spec.SecretRef == nil ||
		d.Name != s.Encryption.Spec.SecretRef.Name || d.Namespace != t.Spec.SyncNamespace {
		return nil
	}
	return t
}
