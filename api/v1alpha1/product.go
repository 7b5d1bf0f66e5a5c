package v1alpha1

// Product is the object of a platform product that one of the clusters manages.
type Product interface {
	// ProductName returns the name of the product's folder, which is also the prefix of its Kustomizations.
	ProductName() string
	// ManagementCluster returns the name of the cluster that manages the product.
	ManagementCluster() string
	// ApplyDefaults sets the fields of the object that are not set.
	ApplyDefaults(of *Spec)
	// NamespaceSteps returns the namespaces that the product has on its cluster, each with the step that
	// applies the objects in it. The namespace exists before that step, and no earlier step uses it.
	NamespaceSteps() map[string]string
	// OwnNamespaces returns the product's namespaces that no tenant may use.
	OwnNamespaces() []string
	// FluxNamespaces returns the namespaces of Flux controllers that the product installs.
	FluxNamespaces() []string
	// AddNamespace describes how to add a namespace to the object.
	AddNamespace() string
	// Folders returns the product's own folders in the platform repository.
	Folders() []string
	// Holds returns the parts of the object whose removal deletes workloads on clusters.
	Holds() []Held
	// NeededSecrets returns the Secrets that the product needs.
	NeededSecrets() []*DeclaredSecret
	// CopiesClusterKey reports whether a Secret is a copy of the cluster's own key.
	CopiesClusterKey(namespace, name string) bool
	// ByHand describes the manual step after which the Kustomizations of a new cluster become ready; "" if none is needed.
	ByHand() string
}

// Held is a part of a product whose removal deletes workloads on clusters, such as a project with its
// namespaces.
type Held struct{ Kind, Name string }

// ProductOf returns the object of a product, or nil if the specification does not have the product.
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

// ProductSecrets returns the Secrets that the platform products need.
func (s *Spec) ProductSecrets() []*DeclaredSecret {
	var out []*DeclaredSecret
	for _, p := range s.Products {
		out = append(out, p.NeededSecrets()...)
	}
	return out
}
