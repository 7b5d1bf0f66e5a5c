package functions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// settings are the fields of a function's spec, each with what decodes it. kyaml's
// own LoadFunctionConfig ignores unknown fields, which hides a typing error.
type settings map[string]func(*kyaml.Node) error

// textSetting decodes a string; where values are given, one of them.
func textSetting(to *string, allowed ...string) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if n.Kind != kyaml.ScalarNode || n.ShortTag() == "!!null" {
			return errors.New("want a string")
		}
		if len(allowed) > 0 && !slices.Contains(allowed, n.Value) {
			return fmt.Errorf("%q is not allowed: want %s", n.Value, alternatives(allowed))
		}
		*to = n.Value
		return nil
	}
}

// listSetting decodes a list of strings, or (in a ConfigMap) one string with
// commas in it.
func listSetting(to *[]string) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if n.Kind == kyaml.ScalarNode {
			for part := range strings.SplitSeq(n.Value, ",") {
				if part = strings.TrimSpace(part); part != "" {
					*to = append(*to, part)
				}
			}
			return nil
		}
		if n.Kind != kyaml.SequenceNode {
			return errors.New("want a list of strings")
		}
		for i, item := range n.Content {
			if item.Kind != kyaml.ScalarNode {
				return fmt.Errorf("[%d]: want a string", i)
			}
			*to = append(*to, item.Value)
		}
		return nil
	}
}

// filesSetting decodes a map of paths to contents.
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
				return fmt.Errorf("[%q] is given twice", name)
			}
			(*to)[name] = []byte(content.Value)
		}
		return nil
	}
}

// objectsSetting decodes a list of objects.
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

// ConfigMap form of a functionConfig: data.function names the kind.
const functionKey = "function"

// kindOf returns the function that a configuration chooses, and the map with its
// settings.
func kindOf(config *kyaml.RNode, kinds []string) (kind string, spec *kyaml.Node, path string, err error) {
	if config == nil || config.IsNilOrEmpty() {
		return "", nil, "", fmt.Errorf("the function has no functionConfig: want kind %s of %s, or a ConfigMap with data.%s",
			alternatives(kinds), v1alpha1.APIVersion, functionKey)
	}
	root := config.YNode()
	apiVersion, kind := config.GetApiVersion(), config.GetKind()
	switch {
	case apiVersion == "v1" && kind == "ConfigMap":
		data := lookup(root, "data")
		chosen := lookup(data, functionKey)
		if chosen == nil {
			return "", nil, "", fmt.Errorf("the functionConfig is a ConfigMap without data.%s: want %s", functionKey, alternatives(kinds))
		}
		if !slices.Contains(kinds, chosen.Value) {
			return "", nil, "", fmt.Errorf("functionConfig data.%s %q is unknown: want %s", functionKey, chosen.Value, alternatives(kinds))
		}
		return chosen.Value, data, "data", nil
	case apiVersion != v1alpha1.APIVersion:
		return "", nil, "", fmt.Errorf("functionConfig apiVersion %q is unknown: want %s, or a ConfigMap with data.%s", apiVersion, v1alpha1.APIVersion, functionKey)
	case !slices.Contains(kinds, kind):
		return "", nil, "", fmt.Errorf("functionConfig kind %q is unknown: want %s", kind, alternatives(kinds))
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if name := root.Content[i].Value; !slices.Contains([]string{"apiVersion", "kind", "metadata", "spec"}, name) {
			return "", nil, "", fmt.Errorf("functionConfig %s: field %q is unknown: want apiVersion, kind, metadata or spec", kind, name)
		}
	}
	return kind, lookup(root, "spec"), "spec", nil
}

// decode reads the settings of a function's configuration strictly.
func (s settings) decode(kind string, spec *kyaml.Node, path string) error {
	if spec == nil || spec.ShortTag() == "!!null" {
		return nil
	}
	if spec.Kind != kyaml.MappingNode {
		return fmt.Errorf("functionConfig %s: %s: want a map", kind, path)
	}
	var errs []error
	seen := map[string]bool{}
	for i := 0; i+1 < len(spec.Content); i += 2 {
		name, value := spec.Content[i].Value, spec.Content[i+1]
		if path == "data" && name == functionKey {
			continue
		}
		set, known := s[name]
		switch {
		case !known:
			errs = append(errs, fmt.Errorf("functionConfig %s: field %q of %s is unknown: want %s", kind, name, path, alternatives(slices.Sorted(maps.Keys(s)))))
		case seen[name]:
			errs = append(errs, fmt.Errorf("functionConfig %s: field %q of %s is given twice", kind, name, path))
		default:
			if err := set(value); err != nil {
				errs = append(errs, fmt.Errorf("functionConfig %s: %s.%s: %w", kind, path, name, err))
			}
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

// alternatives lists allowed values: a, b or c.
func alternatives(values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}
