package functions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// settings are the fields of a function's spec, each with its decoder. kyaml's own LoadFunctionConfig ignores
// unknown fields, which hides typos.
type settings map[string]func(*kyaml.Node) error

// textSetting returns a decoder for a string. If there are allowed values, the string must be one of them.
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

// listSetting returns a decoder for a list of strings, or for one string with commas, as in a ConfigMap.
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
			if item = repository.Lookup(item); item.Kind != kyaml.ScalarNode {
				return fmt.Errorf("[%d]: want a string", i)
			}
			*to = append(*to, item.Value)
		}
		return nil
	}
}

// boolSetting returns a decoder for true or false; in a ConfigMap it is a string.
func boolSetting(to *bool) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if n.Kind != kyaml.ScalarNode || n.Value != "true" && n.Value != "false" {
			return errors.New("want true or false")
		}
		*to = n.Value == "true"
		return nil
	}
}

// percentSetting returns a decoder for a number from 0 to 100; in a ConfigMap it is a string.
func percentSetting(to *int) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		percent, err := strconv.Atoi(n.Value)
		if n.Kind != kyaml.ScalarNode || err != nil || percent < 0 || percent > 100 {
			return errors.New("want a number from 0 to 100, in percent")
		}
		*to = percent
		return nil
	}
}

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
				return fmt.Errorf("[%q] is given twice", name)
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

// kindOf returns the function that a functionConfig selects, the map with its settings, and the path of that
// map.
func kindOf(config *kyaml.RNode, kinds []string) (kind string, spec *kyaml.Node, path string, err error) {
	if config == nil || config.IsNilOrEmpty() {
		return "", nil, "", fmt.Errorf("the functionConfig is missing: want kind %s of %s, or a ConfigMap with data.%s",
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

// problem is an error in a functionConfig, and its node.
type problem struct {
	node *kyaml.Node
	text string
	hint string
}

// fieldError is an error in a setting, with its place in the setting.
type fieldError struct {
	node *kyaml.Node
	// path is the path of the place below the setting, such as [2].reason.
	path    string
	message string
	hint    string
}

func (e *fieldError) Error() string {
	if e.path == "" {
		return e.message
	}
	return e.path + ": " + e.message
}

// decode decodes the settings of a function's configuration. Unknown fields are errors.
func (s settings) decode(kind string, spec *kyaml.Node, path string) error {
	var errs []error
	for _, p := range s.problems(spec, path) {
		text := p.text
		if p.hint != "" {
			text += "\n  hint: " + p.hint
		}
		errs = append(errs, fmt.Errorf("functionConfig %s: %s", kind, text))
	}
	return errors.Join(errs...)
}

// problems decodes the settings and returns the errors in them.
func (s settings) problems(spec *kyaml.Node, path string) []problem {
	if spec == nil || spec.ShortTag() == "!!null" {
		return nil
	}
	if spec.Kind != kyaml.MappingNode {
		return []problem{{node: spec, text: path + ": want a map"}}
	}
	var all []problem
	seen := map[string]bool{}
	names := slices.Sorted(maps.Keys(s))
	for i := 0; i+1 < len(spec.Content); i += 2 {
		key, value := spec.Content[i], repository.Lookup(spec.Content[i+1])
		name := key.Value
		if path == "data" && name == functionKey {
			continue
		}
		set, known := s[name]
		switch {
		case !known:
			all = append(all, problem{key, fmt.Sprintf("field %q of %s is unknown: want %s", name, path, alternatives(names)), didYouMean(name, names)})
		case seen[name]:
			all = append(all, problem{node: key, text: fmt.Sprintf("field %q of %s is set twice", name, path)})
		default:
			all = append(all, problemsOf(set(value), value, path+"."+name)...)
		}
		seen[name] = true
	}
	return all
}

// problemsOf splits the error of a setting into problems.
func problemsOf(err error, value *kyaml.Node, path string) []problem {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []problem
		for _, one := range several.Unwrap() {
			all = append(all, problemsOf(one, value, path)...)
		}
		return all
	}
	if f := (*fieldError)(nil); errors.As(err, &f) {
		return []problem{{node: f.node, text: path + f.path + ": " + f.message, hint: f.hint}}
	}
	return []problem{{node: value, text: path + ": " + err.Error()}}
}

// didYouMean returns a hint with the name in names that is similar to a name; "" if there is none.
func didYouMean(name string, names []string) string {
	if near, ok := nearest.To(name, names); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// alternatives joins allowed values: a, b or c.
func alternatives(values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}
