package builds

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// head has the fields that identify an object.
type head struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name      string `yaml:"name"`
		Namespace string `yaml:"namespace"`
	} `yaml:"metadata"`
}

func (h head) String() string {
	return h.Kind + " " + strings.TrimPrefix(h.Metadata.Namespace+"/"+h.Metadata.Name, "/")
}

// id returns the id by which kustomize distinguishes objects.
func (h head) id() resid.ResId {
	group, version := resid.ParseGroupVersion(h.APIVersion)
	return resid.NewResIdWithNamespace(resid.NewGvk(group, version, h.Kind), h.Metadata.Name, h.Metadata.Namespace)
}

// objectsIn returns the heads of the objects in a string that kustomize has already parsed.
func objectsIn(text string) []head {
	var heads []head
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var h head
		if decoder.Decode(&h) != nil {
			return heads
		}
		heads = append(heads, h)
	}
}
