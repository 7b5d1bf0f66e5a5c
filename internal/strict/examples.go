package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// The hints of the decoder show how to write a field: with its required fields, and with the
// examples in the types' tags.

// missingHint returns how to write a required field that is missing.
func (d *decoder) missingHint(f field) string {
	return "add it, as in " + written(f.name, d.example(f.typ, f.bounds))
}

// mappingHint returns how to write a mapping instead of another value. If that value is a string and may be
// the mapping's only required field, the hint contains it.
func (d *decoder) mappingHint(n *yaml.Node, p *Path, t reflect.Type) string {
	if p == nil {
		return "write a mapping of fields to values"
	}
	shown := d.example(t, bounds{required: true})
	if fields := d.table[t]; fields != nil && len(shown.Content) == 2 && isString(n) {
		f := fields.list[fields.byName[shown.Content[0].Value]]
		if text := Dereference(n).Value; len(text) <= MaxShown && f.bounds.required && f.typ.Kind() == reflect.String && f.bounds.allows(text) {
			shown.Content[1] = scalarNode(text)
		}
	}
	return "write it as in " + written(p.Name, shown)
}

// listHint returns how to write a list instead of another value. If that value may be an item of
// the list, the hint contains it.
func (d *decoder) listHint(n *yaml.Node, p *Path, t reflect.Type, b bounds) string {
	item := d.example(t.Elem(), b)
	if t.Elem().Kind() == reflect.String && isString(n) && len(n.Value) <= MaxShown && b.allows(n.Value) {
		item = scalarNode(n.Value)
	}
	return "write it as in " + written(p.Name, flow(yaml.SequenceNode, item))
}

// emptyHint returns how to write a value instead of an empty one.
func (d *decoder) emptyHint(p *Path, t reflect.Type, b bounds) string {
	hint := "write it as in " + written(p.Name, d.example(t, b))
	if p.Name != "" && !b.required {
		hint += ", or remove it"
	}
	return hint
}

// stringHint describes the string that is expected instead of another value, and how to write it: in quotes, if that is
// enough.
func (d *decoder) stringHint(n *yaml.Node, p *Path, t reflect.Type, b bounds) (want, hint string) {
	n = Dereference(n)
	scalar := n.Kind == yaml.ScalarNode && !IsNull(n)
	switch {
	case t == reflect.TypeFor[v1alpha1.Duration]():
		return durationWords, durationHint
	case scalar && b.allows(n.Value):
		return "a string", quotedHint(n)
	case scalar && b.pattern != nil:
		f := formatOf(b.pattern.String())
		return f.what, f.hint(n.Value, b)
	case len(b.enum) > 0:
		return OneOf(b.enum), "write it as in " + written(p.Name, d.example(t, b))
	}
	return "a string", "write it as in " + written(p.Name, d.example(t, b))
}

// example returns an example of a type: a struct has its required fields, or its first field if it
// must have one.
func (d *decoder) example(t reflect.Type, b bounds) *yaml.Node {
	switch t.Kind() {
	case reflect.Pointer:
		return d.example(t.Elem(), b)
	case reflect.Struct:
		m, fields := flow(yaml.MappingNode), d.table[t].list
		shown := slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.bounds.required })
		if len(shown) == 0 && b.required && len(fields) > 0 {
			shown = fields[:1]
		}
		for _, f := range shown {
			m.Content = append(m.Content, scalarNode(f.name), d.example(f.typ, f.bounds))
		}
		return m
	case reflect.Slice:
		return flow(yaml.SequenceNode, d.example(t.Elem(), b))
	case reflect.Map:
		return flow(yaml.MappingNode, scalarNode("key"), d.example(t.Elem(), bounds{}))
	case reflect.Bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
	case reflect.Int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(b.maximum)}
	case reflect.String:
		return scalarNode(b.example(t))
	}
	return scalarNode("value") // an example for any type
}

// example returns an example of a string within bounds.
func (b bounds) example(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[v1alpha1.Duration]():
		return "10m"
	case len(b.examples) > 0:
		return b.examples[0]
	case len(b.enum) > 0:
		return b.enum[0]
	case b.pattern != nil:
		return formatOf(b.pattern.String()).example
	}
	return "value"
}

func flow(kind yaml.Kind, content ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: kind, Style: yaml.FlowStyle, Content: content}
}

func scalarNode(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	return n
}

// written returns a field in one line of YAML; without a name, an item of a list.
func written(name string, value *yaml.Node) string {
	outer := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalarNode(name), value}}
	if name == "" {
		outer = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{value}}
	}
	text, err := yaml.Marshal(outer)
	if err != nil {
		return fmt.Sprintf("%s: …", name)
	}
	return strings.TrimSpace(string(text))
}
