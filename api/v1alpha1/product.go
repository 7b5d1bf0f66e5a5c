package v1alpha1

// Product is the object of a platform product that one of the clusters manages.
type Product interface {
	// ProductName is the name of the product's folder, and the prefix of its Kustomizations.
	ProductName() string
	// ManagementCluster is the name of the cluster that manages the product.
	ManagementCluster() string
	// ApplyDefaults fills in what the object leaves out.
	ApplyDefaults(of *Spec)
	// NamespaceSteps are the namespaces that the product has on its cluster, each with the step that
	// applies the objects in it: the namespace exists by then, and nothing uses it before.
	NamespaceSteps() map[string]string
	// OwnNamespaces are those of them that no tenant may claim.
	OwnNamespaces() []string
	// FluxNamespaces are the namespaces of Flux controllers that the product brings.
	FluxNamespaces() []string
	// AddNamespace says how the object gets another namespace.
	AddNamespace() string
	// Folders are the product's own folders in the platform repository.
	Folders() []string
	// NeededSecrets are the Secrets that the product needs.
	NeededSecrets() []*DeclaredSecret
	// CopiesClusterKey reports whether a Secret holds a copy of the cluster's own key.
	CopiesClusterKey(namespace, name string) bool
}

// ProductOf returns the object of a product, or nil where the specification has none.
func ProductOf[T Product](s *Spec) T {
	for _, p := range s.Products {
		if of, ok := p.(T); ok {
			return of
		}
	}
	var none T
	return none
}

// ProductsOn returns the platform products that a cluster manages.
func (s *Spec) ProductsOn(c *Cluster) []Product {
	var out []Product
	for _, p := range s.Products {
		if p.ManagementCluster() == c.Metadata.Name {
			out = append(out, p)
		}
	}
	return out
}

// ProductSecrets are the Secrets that the platform products need.
func (s *Spec) ProductSecrets() []*DeclaredSecret {
	var out []*DeclaredSecret
	for _, p := range s.Products {
		out = append(out, p.NeededSecrets()...)
	}
	return out
}
