package located

import (
	"fmt"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Reading selects the parser whose rules determine the types of scalars.
type Reading int

const (
	// AsKustomize reads YAML as kustomize and Flux read an object: yes and on are strings.
	AsKustomize Reading = iota
	// AsHelm reads a values file as Helm does, by YAML 1.1: yes and on are booleans.
	AsHelm
	// AsHelmfile reads a literal in a helmfile, which helmfile decodes and encodes again: a date
	// becomes a time.
	AsHelmfile
)

// ValueOf returns the value of a node. The caller must have limited the node's aliases, as the
// repository's loader and Parse do.
func ValueOf(file string, n *yaml.Node, how Reading) (*Value, error) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	v := &Value{Place: finding.Place{File: file, Line: n.Line}}
	switch n.Kind {
	case yaml.MappingNode:
		v.IsMap, v.Fields = true, map[string]*Value{}
		return v, mapFields(v, file, n, how)
	case yaml.SequenceNode:
		v.IsList = true
		for _, item := range n.Content {
			each, err := ValueOf(file, item, how)
			if err != nil {
				return nil, err
			}
			v.Items = append(v.Items, each)
		}
		return v, nil
	}
	var err error
	v.Scalar, err = scalarOf(file, n, how)
	return v, err
}

func mapFields(v *Value, file string, n *yaml.Node, how Reading) error {
	var sources []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, child := n.Content[i], n.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			return fmt.Errorf("%s:%d: a key must be a scalar, not a list or a map", output.Line(file), key.Line)
		case key.Tag == "!!merge":
			sources = append(sources, child)
			continue
		}
		name := keyOf(key, how)
		if before, twice := v.Fields[name]; twice {
			return fmt.Errorf("%s:%d: key %q is set twice, first on line %d", output.Line(file), key.Line, name, before.Line)
		}
		each, err := ValueOf(file, child, how)
		if err != nil {
			return err
		}
		if each.IsMap || each.IsList {
			each.Line = key.Line
		}
		v.Fields[name] = each
	}
	for _, source := range sources {
		if err := mergeFields(v, file, source, how); err != nil {
			return err
		}
	}
	return nil
}

// keyOf returns a key as Helm reads it: by YAML 1.1, on and y are booleans even as keys.
func keyOf(key *yaml.Node, how Reading) string {
	if how == AsHelm && key.Style == 0 && key.ShortTag() == "!!str" {
		if b, is := Yaml11Bool(key.Value); is {
			return strconv.FormatBool(b)
		}
	}
	return key.Value
}

// mergeFields adds the fields of a merge key (<<): of a map, or of a list of maps in
// which the first one takes precedence.
func mergeFields(v *Value, file string, source *yaml.Node, how Reading) error {
	for source.Kind == yaml.AliasNode {
		source = source.Alias
	}
	maps := []*yaml.Node{source}
	if source.Kind == yaml.SequenceNode {
		maps = source.Content
	}
	for _, m := range maps {
		from, err := ValueOf(file, m, how)
		if err != nil {
			return err
		}
		if !from.IsMap {
			return fmt.Errorf("%s:%d: a value merged with << must be a map", output.Line(file), source.Line)
		}
		for _, key := range from.Keys() {
			if _, own := v.Fields[key]; !own {
				v.Fields[key] = from.Fields[key]
			}
		}
	}
	return nil
}

func scalarOf(file string, n *yaml.Node, how Reading) (any, error) {
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		switch {
		case how == AsHelm && n.Tag != "!!binary":
			if b, is := Yaml11Bool(n.Value); is && n.ShortTag() == "!!str" {
				return b, nil
			}
		case how == AsHelmfile && n.ShortTag() == "!!timestamp":
			var t time.Time
			if err := n.Decode(&t); err == nil {
				return t.Format(time.RFC3339Nano), nil
			}
		}
	}
	return repository.Value(file, n)
}

// Yaml11Bool parses the booleans that sigs.k8s.io/yaml reads in addition to true and false.
func Yaml11Bool(s string) (value, is bool) {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// PlainScalar returns the value of a string as an unquoted YAML scalar.
func PlainScalar(s string) any {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(s), &n); err != nil || len(n.Content) != 1 || n.Content[0].Kind != yaml.ScalarNode {
		return s
	}
	v, err := repository.Value("", n.Content[0])
	if err != nil {
		return s
	}
	return v
}
