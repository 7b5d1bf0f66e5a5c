package v1alpha1

import "slices"

// DeclaredSecret is a Kubernetes Secret whose values are not in the specification. Its values are in
// Git encrypted, in a file that `fleetwright secrets sync` creates and that the user owns from then
// on.
type DeclaredSecret struct {
	// Name of the Secret.
	Name string `json:"name" jsonschema:"required,minLength=1,maxLength=253,pattern=^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"`
	// Namespace of the Secret: flux-system, or a namespace that add-ons or a platform product
	// (kcm-system, that of a workspace or project) have on each of its clusters; with scope tenant one
	// of the tenant's namespaces, by default its sync namespace.
	Namespace string `json:"namespace,omitempty" jsonschema:"maxLength=63,pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	// Type of the Secret, as Kubernetes knows it.
	Type string `json:"type,omitempty" jsonschema:"maxLength=253,default=Opaque,example=kubernetes.io/basic-auth"`
	// Scope of the Secret. platform: all clusters share one file and its values. clusters: each
	// cluster has a separate file with separate values. tenant: the clusters of a tenant share one
	// file. A file is encrypted to the clusters that apply it and to the platform's recipients.
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
	// Product is the platform product that needs the Secret or owns its namespace, and Step is the
	// product's step that applies the Secret, in the step's folder; both are "" for other Secrets.
	Product string `json:"-"`
	Step    string `json:"-"`
	// File of the Secret in the platform repository; "" for the default place of the layout.
	File string `json:"-"`
}

// SecretScope is the scope of a declared Secret.
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
	// From is the source of the value when the Secret is created: exactly one of its fields is set.
	From SecretSource `json:"from" jsonschema:"required"`
}

// SecretSource is the source of a value when its Secret is created. An existing encrypted value is
// never read or generated again.
type SecretSource struct {
	// Env names the environment variable with the value.
	Env string `json:"env,omitempty" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$,example=ADMIN_PASSWORD"`
	// File contains the value, byte for byte: a path relative to the folder that contains fleet/, or
	// an absolute path.
	File string `json:"file,omitempty" jsonschema:"example=../keys/registry.json"`
	// Generate a random string.
	Generate *Generate `json:"generate,omitempty"`
	// AgeKey generates an age private key (X25519). If it is a tenant's own key, in the Secret of
	// spec.secretRef in its sync namespace, its public key is added to the tenant's recipients.
	AgeKey *AgeKey `json:"ageKey,omitempty"`
	// SSHKeyPair generates a key pair: the private key under the key's name, and the public key, for
	// use as a deploy key, under NAME.pub. Flux reads identity and identity.pub, and known_hosts,
	// which comes from a file.
	SSHKeyPair *SSHKeyPair `json:"sshKeyPair,omitempty"`
}

// Generate is a random string with uniformly distributed characters.
type Generate struct {
	// Length in characters.
	Length int `json:"length,omitempty" jsonschema:"minimum=8,maximum=4096,default=32"`
	// Charset of the characters: alphanumeric (A-Z, a-z, 0-9), lowercase (a-z, 0-9), letters (A-Z,
	// a-z), digits, hex (0-9, a-f), base64url (A-Z, a-z, 0-9, - and _) or printable (all printable
	// ASCII characters except the space).
	Charset string `json:"charset,omitempty" jsonschema:"enum=alphanumeric,enum=lowercase,enum=letters,enum=digits,enum=hex,enum=base64url,enum=printable,default=alphanumeric"`
}

// AgeKey is an age private key; it has no options.
type AgeKey struct{}

// SSHKeyPair is an SSH key pair.
type SSHKeyPair struct {
	// Algorithm of the keys: ecdsa (with the curve P-384, which `flux bootstrap` uses), ed25519, or rsa
	// (with 4096 bits; Azure DevOps accepts no other).
	Algorithm string `json:"algorithm,omitempty" jsonschema:"enum=ecdsa,enum=ed25519,enum=rsa,default=ecdsa"`
}

// Set returns the fields of a source that are set.
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

// PublicSuffix is the suffix that the public key of an SSH key pair has after the name of the private key.
const PublicSuffix = ".pub"

// DataKeys returns the keys of the Secret's data, in the order of their declaration.
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

// String returns namespace/name, as messages name a Secret.
func (s *DeclaredSecret) String() string { return s.Namespace + "/" + s.Name }

// Secrets returns the declared Secrets in the order of their declaration, and the Secrets that platform products need. It
// returns none without an Encryption.
func (s *Spec) Secrets() []*DeclaredSecret {
	if s.Encryption == nil {
		return nil
	}
	return slices.Concat(s.OwnSecrets(), s.ProductSecrets())
}

// OwnSecrets returns the Secrets that the Encryption declares.
func (s *Spec) OwnSecrets() []*DeclaredSecret {
	var out []*DeclaredSecret
	for i := range s.Encryption.Spec.Secrets {
		out = append(out, &s.Encryption.Spec.Secrets[i])
	}
	return out
}

// SecretClusters returns the clusters that apply a declared Secret, sorted by name.
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

// SecretOn returns a declared Secret as a cluster applies it. If it is in a namespace of a platform product,
// the product's step that applies the objects there also applies the Secret. In namespaces of add-ons, which
// exist before all products, no step is needed.
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

// Tenant returns the tenant with a name, or nil.
func (s *Spec) Tenant(name string) *Tenant {
	for _, t := range s.Tenants {
		if t.Metadata.Name == name {
			return t
		}
	}
	return nil
}

// TenantKey returns the tenant whose own key a declared Secret contains. The tenant's Kustomization decrypts
// with this key in its sync namespace. It returns nil for other Secrets.
func (s *Spec) TenantKey(d *DeclaredSecret) *Tenant {
	t := s.Tenant(d.Tenant)
	if d.Scope != ScopeTenant || t == nil || s.Encryption.Spec.SecretRef == nil ||
		d.Name != s.Encryption.Spec.SecretRef.Name || d.Namespace != t.Spec.SyncNamespace {
		return nil
	}
	return t
}
