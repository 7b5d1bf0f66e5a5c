package patches

import "sigs.k8s.io/kustomize/api/types"

// Generator is an entry of a kustomization that generates an object.
type Generator struct {
	// Kind of the generated object, and its name without a hash.
	Kind, Name string
	// Field and Index are the place of the entry in the kustomization.
	Field string
	Index int
}

// Generators returns the generators of ConfigMaps and Secrets of a kustomization.
func Generators(k *types.Kustomization) []Generator {
	var all []Generator
	for i, g := range k.ConfigMapGenerator {
		all = append(all, Generator{"ConfigMap", g.Name, "configMapGenerator", i})
	}
	for i, g := range k.SecretGenerator {
		all = append(all, Generator{"Secret", g.Name, "secretGenerator", i})
	}
	return all
}
