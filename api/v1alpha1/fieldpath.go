package v1alpha1

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fieldPath is the place of a value in an object: nil is the object itself.
type fieldPath struct {
	up    *fieldPath
	name  string
	index int // of a list item, where name is empty
}

// at is the path of nested fields: at("spec", "source", "url").
func at(names ...string) *fieldPath {
	var p *fieldPath
	for _, name := range names {
		p = p.child(name)
	}
	return p
}

func (p *fieldPath) child(name string) *fieldPath { return &fieldPath{up: p, name: name} }
func (p *fieldPath) item(i int) *fieldPath        { return &fieldPath{up: p, index: i} }

// ofSpec is the field of the spec, or of another part of the object, that a path
// is in: spec.overrides of spec.overrides[0].values.
func (p *fieldPath) ofSpec() string {
	for p != nil && p.up != nil && p.up.up != nil {
		p = p.up
	}
	return p.String()
}

// String writes a path as spec.overrides[0].values.
func (p *fieldPath) String() string {
	if p == nil {
		return ""
	}
	up := p.up.String()
	switch {
	case p.name == "":
		return up + "[" + strconv.Itoa(p.index) + "]"
	case strings.ContainsAny(p.name, "./[]\" ") && up != "":
		return up + "[" + strconv.Quote(p.name) + "]"
	case up == "":
		return p.name
	}
	return up + "." + p.name
}

// find returns the key and the value at a path under a node. Where the path
// ends early, as at a field that a default filled in, it returns the deepest
// nodes that there are and false.
func (p *fieldPath) find(root *yaml.Node) (key, value *yaml.Node, found bool) {
	if p == nil {
		return root, root, true
	}
	key, value, found = p.up.find(root)
	if !found {
		return key, value, false
	}
	inner := dereference(value)
	switch {
	case p.name == "" && inner.Kind == yaml.SequenceNode && p.index < len(inner.Content):
		item := inner.Content[p.index]
		return item, item, true
	case p.name != "" && inner.Kind == yaml.MappingNode:
		for _, pair := range flatten(inner) {
			if dereference(pair.key).Value == p.name {
				return pair.key, pair.value, true
			}
		}
	}
	return key, value, false
}
