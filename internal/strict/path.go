package strict

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Path is the path of a value in an object; nil is the object itself.
type Path struct {
	Up    *Path
	Name  string
	index int // of a list item, if Name is empty
}

// At returns the path of nested fields: At("spec", "source", "url").
func At(names ...string) *Path {
	var p *Path
	for _, name := range names {
		p = p.Child(name)
	}
	return p
}

// Child returns the path of a field of a mapping.
func (p *Path) Child(name string) *Path { return &Path{Up: p, Name: name} }

// Item returns the path of an item of a list.
func (p *Path) Item(i int) *Path { return &Path{Up: p, index: i} }

// ofSpec returns the field of the spec, or of another part of the object, that contains a
// path: spec.overrides for spec.overrides[0].values.
func (p *Path) ofSpec() string {
	for p != nil && p.Up != nil && p.Up.Up != nil {
		p = p.Up
	}
	return p.String()
}

// String returns a path such as spec.overrides[0].values.
func (p *Path) String() string {
	if p == nil {
		return ""
	}
	up := p.Up.String()
	switch {
	case p.Name == "":
		return up + "[" + strconv.Itoa(p.index) + "]"
	case strings.ContainsAny(p.Name, "./[]\" ") && up != "":
		return up + "[" + strconv.Quote(p.Name) + "]"
	case up == "":
		return p.Name
	}
	return up + "." + p.Name
}

// Find returns the key and the value at a path below a node. If the path does not exist, as for a
// field with a default, it returns the deepest existing nodes and false.
func (p *Path) Find(root *yaml.Node) (key, value *yaml.Node, found bool) {
	if p == nil {
		return root, root, true
	}
	key, value, found = p.Up.Find(root)
	if !found {
		return key, value, false
	}
	inner := Dereference(value)
	switch {
	case p.Name == "" && inner.Kind == yaml.SequenceNode && p.index < len(inner.Content):
		item := inner.Content[p.index]
		return item, item, true
	case p.Name != "" && inner.Kind == yaml.MappingNode:
		for _, pair := range flatten(inner) {
			if Dereference(pair.key).Value == p.Name {
				return pair.key, pair.value, true
			}
		}
	}
	return key, value, false
}
