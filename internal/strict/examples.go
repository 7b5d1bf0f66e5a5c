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

// The hints of the decoder show how a field is written: with what is required,
// and the examples of the types' tags.

// missingHint shows a required field.
func (d *decoder) missingHint(f field) string {
	return "add it, as in " + written(f.name, d.example(f.typ, f.bounds))
}

// mappingHint shows a mapping where something else stands: with that text, where
// it may be the only field that is required.
func (d *decoder) mappingHint(n *yaml.Node, p *Path, t reflect.Type) string {
	if p == nil {
		return "write fields, each with its value"
	}
	shown := d.example(t, bounds{required: true})
	if fields := d.table[t]; fields != nil && len(shown.Content) == 2 && isString(n) {
		f := fields.list[fields.byName[shown.Content[0].Value]]
		if text := Dereference(n).Value; len(text) <= MaxShown && f.bounds.required && f.typ.Kind() == reflect.String && f.bounds.takes(text) {
			shown.Content[1] = scalarNode(text)
		}
	}
	return "write it as in " + written(p.Name, shown)
}

// listHint shows a list where something else stands: of that one thing, where
// it may be an item.
func (d *decoder) listHint(n *yaml.Node, p *Path, t reflect.Type, b bounds) string {
	item := d.example(t.Elem(), b)
	if t.Elem().Kind() == reflect.String && isString(n) && len(n.Value) <= MaxShown && b.takes(n.Value) {
		item = scalarNode(n.Value)
	}
	return "write it as in " + written(p.Name, flow(yaml.SequenceNode, item))
}

// emptyHint shows a value where none stands.
func (d *decoder) emptyHint(p *Path, t reflect.Type, b bounds) string {
	hint := "write it as in " + written(p.Name, d.example(t, b))
	if p.Name != "" && !b.required {
		hint += ", or leave it out"
	}
	return hint
}

// stringHint tells what is wanted where a value is no string, and how it is
// written: in quotes, where that is all.
func (d *decoder) stringHint(n *yaml.Node, p *Path, t reflect.Type, b bounds) (want, hint string) {
	n = Dereference(n)
	scalar := n.Kind == yaml.ScalarNode && !IsNull(n)
	switch {
	case t == reflect.TypeFor[v1alpha1.Duration]():
		return durationWords, durationHint
	case scalar && b.takes(n.Value):
		return "a string", quotedHint(n)
	case scalar && b.pattern != nil:
		f := formatOf(b.pattern.String())
		return f.what, f.hint(n.Value, b)
	case len(b.enum) > 0:
		return OneOf(b.enum), "write it as in " + written(p.Name, d.example(t, b))
	}
	return "a string", "write it as in " + written(p.Name, d.example(t, b))
}

// example makes a value of a type: its fields are those that are required, or
// the first where it has to hold one.
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
	return scalarNode("value") // of anything
}

// example is a string within bounds.
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

// written is a field in one line of YAML; without a name, an item of a list.
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
