// Package settings strictly decodes the specs of configuration objects, with the position of each error: the
// configurations of the KRM functions and of validate.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Fields are the fields of a spec, each with its decoder. kyaml's own LoadFunctionConfig ignores unknown fields, which
// hides typos.
type Fields map[string]func(*kyaml.Node) error

// Text returns a decoder for a string. If there are allowed values, the string must be one of them.
func Text(to *string, allowed ...string) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if n.Kind != kyaml.ScalarNode || n.ShortTag() == "!!null" {
			return errors.New("want a string")
		}
		if len(allowed) > 0 && !slices.Contains(allowed, n.Value) {
			return fmt.Errorf("%q is not allowed: want %s", n.Value, Alternatives(allowed))
		}
		*to = n.Value
		return nil
	}
}

// List returns a decoder for a list of strings, or for one string with commas, as in a ConfigMap.
func List(to *[]string) func(*kyaml.Node) error {
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

// Bool returns a decoder for true or false; in a ConfigMap it is a string.
func Bool(to *bool) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		if n.Kind != kyaml.ScalarNode || n.Value != "true" && n.Value != "false" {
			return errors.New("want true or false")
		}
		*to = n.Value == "true"
		return nil
	}
}

// Percent returns a decoder for a number from 0 to 100; in a ConfigMap it is a string.
func Percent(to *int) func(*kyaml.Node) error {
	return func(n *kyaml.Node) error {
		percent, err := strconv.Atoi(n.Value)
		if n.Kind != kyaml.ScalarNode || err != nil || percent < 0 || percent > 100 {
			return errors.New("want a number from 0 to 100, in percent")
		}
		*to = percent
		return nil
	}
}

// Problem is an error in a configuration, and its node.
type Problem struct {
	Node *kyaml.Node
	Text string
	Hint string
}

// FieldError is an error in a setting, with its place in the setting.
type FieldError struct {
	Node *kyaml.Node
	// Path is the path of the place below the setting, such as [2].reason.
	Path    string
	Message string
	Hint    string
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Problems decodes a spec and returns the errors in it. Unknown fields are errors. path is that of the spec.
func (s Fields) Problems(spec *kyaml.Node, path string) []Problem {
	if spec == nil || spec.ShortTag() == "!!null" {
		return nil
	}
	if spec.Kind != kyaml.MappingNode {
		return []Problem{{Node: spec, Text: path + ": want a map"}}
	}
	var all []Problem
	seen := map[string]bool{}
	names := slices.Sorted(maps.Keys(s))
	for i := 0; i+1 < len(spec.Content); i += 2 {
		key, value := spec.Content[i], repository.Lookup(spec.Content[i+1])
		name := key.Value
		set, known := s[name]
		switch {
		case !known:
			all = append(all, Problem{key, fmt.Sprintf("field %q of %s is unknown: want %s", name, path, Alternatives(names)), DidYouMean(name, names)})
		case seen[name]:
			all = append(all, Problem{Node: key, Text: fmt.Sprintf("field %q of %s is set twice", name, path)})
		default:
			all = append(all, problemsOf(set(value), value, path+"."+name)...)
		}
		seen[name] = true
	}
	return all
}

// problemsOf splits the error of a setting into problems.
func problemsOf(err error, value *kyaml.Node, path string) []Problem {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Problem
		for _, one := range several.Unwrap() {
			all = append(all, problemsOf(one, value, path)...)
		}
		return all
	}
	if f := (*FieldError)(nil); errors.As(err, &f) {
		return []Problem{{Node: f.Node, Text: path + f.Path + ": " + f.Message, Hint: f.Hint}}
	}
	return []Problem{{Node: value, Text: path + ": " + err.Error()}}
}

// DidYouMean returns a hint with the name in names that is similar to a name; "" if there is none.
func DidYouMean(name string, names []string) string {
	if near, ok := nearest.To(name, names); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Alternatives joins allowed values: a, b or c.
func Alternatives(values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}
