package functions

import (
	"errors"
	"fmt"
	"slices"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/settings"
)

// filesSetting returns a decoder for a map of paths to contents.
func filesSetting(to *map[string][]byte) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if n.Kind != kyaml.MappingNode {
			return errors.New("want a map of paths to contents")
		}
		*to = make(map[string][]byte, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, content := n.Content[i].Value, n.Content[i+1]
			if content.Kind != kyaml.ScalarNode {
				return fmt.Errorf("[%q]: want the file's content, a string", name)
			}
			if _, twice := (*to)[name]; twice {
				return fmt.Errorf("[%q] is set twice", name)
			}
			(*to)[name] = []byte(content.Value)
		}
		return nil
	}
}

// objectsSetting returns a decoder for a list of objects.
func objectsSetting(to *[]*kyaml.RNode) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if n.Kind != kyaml.SequenceNode {
			return errors.New("want a list of objects")
		}
		for i, item := range n.Content {
			if item.Kind != kyaml.MappingNode {
				return fmt.Errorf("[%d]: want an object", i)
			}
			*to = append(*to, kyaml.NewRNode(item))
		}
		return nil
	}
}

// functionKey is the key of data that names the function if the functionConfig is a ConfigMap.
const functionKey = "function"

// kindOf returns the kind of the function that a functionConfig selects, the map with its settings, and the path of that
// map.
func kindOf(config *kyaml.RNode, kinds []string) (kind string, spec *kyaml.Node, path string, err error) {
	if config == nil || config.IsNilOrEmpty() {
		return "", nil, "", fmt.Errorf("the functionConfig is missing: want kind %s of %s, or a ConfigMap with data.%s",
			settings.Alternatives(kinds), v1alpha1.APIVersion, functionKey)
	}
	root := config.YNode()
	apiVersion, kind := config.GetApiVersion(), config.GetKind()
	switch {
	case apiVersion == "v1" && kind == "ConfigMap":
		data := lookup(root, "data")
		chosen := lookup(data, functionKey)
		if chosen == nil {
			return "", nil, "", fmt.Errorf("the functionConfig is a ConfigMap without data.%s: want %s", functionKey, settings.Alternatives(kinds))
		}
		if !slices.Contains(kinds, chosen.Value) {
			return "", nil, "", fmt.Errorf("functionConfig data.%s %q is unknown: want %s", functionKey, chosen.Value, settings.Alternatives(kinds))
		}
		return chosen.Value, withoutFunction(data), "data", nil
	case apiVersion != v1alpha1.APIVersion:
		return "", nil, "", fmt.Errorf("functionConfig apiVersion %q is unknown: want %s, or a ConfigMap with data.%s", apiVersion, v1alpha1.APIVersion, functionKey)
	case !slices.Contains(kinds, kind):
		return "", nil, "", fmt.Errorf("functionConfig kind %q is unknown: want %s", kind, settings.Alternatives(kinds))
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if name := root.Content[i].Value; !slices.Contains([]string{"apiVersion", "kind", "metadata", "spec"}, name) {
			return "", nil, "", fmt.Errorf("functionConfig %s: field %q is unknown: want apiVersion, kind, metadata or spec", kind, name)
		}
	}
	return kind, lookup(root, "spec"), "spec", nil
}

// withoutFunction returns the data of a ConfigMap without the name of the function.
func withoutFunction(data *kyaml.Node) *kyaml.Node {
	rest := *data
	rest.Content = nil
	for i := 0; i+1 < len(data.Content); i += 2 {
		if data.Content[i].Value != functionKey {
			rest.Content = append(rest.Content, data.Content[i], data.Content[i+1])
		}
	}
	return &rest
}

// decode decodes the fields of a function's configuration.
func decode(fields settings.Fields, kind string, spec *kyaml.Node, path string) error {
	var errs []error
	for _, p := range fields.Problems(spec, path) {
		text := p.Text
		if p.Hint != "" {
			text += "\n  hint: " + p.Hint
		}
		errs = append(errs, fmt.Errorf("functionConfig %s: %s", kind, text))
	}
	return errors.Join(errs...)
}
