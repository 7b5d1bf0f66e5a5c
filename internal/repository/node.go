package repository

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lookup follows a path of field names (string) and list indexes (int) from the document's root,
// through aliases and merge keys. It returns nil if there is no value.
func (d *Document) Lookup(path ...any) *yaml.Node {
	return Lookup(d.node, path...)
}

// Root returns the document's root, never a document or alias node.
func (d *Document) Root() *yaml.Node { return d.node }

// Mentions reports whether a key or value of the document contains a word.
func (d *Document) Mentions(word string) bool { return mentions(d.node, word) }

func mentions(n *yaml.Node, word string) bool {
	return strings.Contains(n.Value, word) || slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return mentions(child, word) })
}

// Lookup is Document.Lookup, starting at the object's root.
func (o *Object) Lookup(path ...any) *yaml.Node { return Lookup(o.Node, path...) }

// Text returns the scalar at a path, and whether there is one that isn't null.
func (o *Object) Text(path ...any) (string, bool) {
	n := o.Lookup(path...)
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == nullTag {
		return "", false
	}
	return n.Value, true
}

// Value converts the value at a path to plain Go values: map[string]any, []any, string, int64,
// uint64, float64, bool and nil. The result is a copy. It returns an error if kustomize would: for
// a duplicate key or a key that is not a scalar. It returns nil if there is no value.
func (o *Object) Value(path ...any) (any, error) {
	n := o.Lookup(path...)
	if n == nil {
		return nil, nil
	}
	return Value(o.Document.File.Path, n)
}

// Position returns the line and column of the value at a path if it is a scalar, or of its key (or
// list item) if it is a map or a list. If there is no value, it returns the position of the nearest
// parent.
func (d *Document) Position(path ...any) (line, column int) { return Position(d.Root(), path...) }

// KeyPosition returns the line and column of the key, or list item, at a path, or of the nearest
// parent.
func (d *Document) KeyPosition(path ...any) (line, column int) { return position(d.Root(), path, true) }

// Position is Document.Position, starting at the object's root.
func (o *Object) Position(path ...any) (line, column int) { return Position(o.Node, path...) }

// KeyPosition is Document.KeyPosition, starting at the object's root.
func (o *Object) KeyPosition(path ...any) (line, column int) { return position(o.Node, path, true) }

const nullTag = "!!null"

// Lookup follows a path of field names and list indexes from a node.
func Lookup(n *yaml.Node, path ...any) *yaml.Node {
	n = resolve(n)
	for _, step := range path {
		if n == nil {
			return nil
		}
		_, n = child(n, step)
		n = resolve(n)
	}
	return n
}

// Position is Document.Position, starting at a node.
func Position(n *yaml.Node, path ...any) (line, column int) { return position(n, path, false) }

// KeyPosition is Document.KeyPosition, starting at a node.
func KeyPosition(n *yaml.Node, path ...any) (line, column int) { return position(n, path, true) }

func position(n *yaml.Node, path []any, key bool) (line, column int) {
	if n == nil {
		return 0, 0
	}
	line, column = n.Line, n.Column
	at := resolve(n)
	for i, step := range path {
		k, v := child(at, step)
		if v == nil {
			return line, column
		}
		last := i == len(path)-1
		at = resolve(v)
		switch {
		case k != nil && (key || !last || at.Kind != yaml.ScalarNode):
			line, column = k.Line, k.Column
		default:
			line, column = v.Line, v.Column
		}
	}
	return line, column
}

// resolve follows aliases to the nodes that they refer to. It ends, because the loader refuses
// documents whose aliases contain themselves.
func resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// child returns the key node (nil in a list) and the value node for one step of a path.
func child(n *yaml.Node, step any) (key, value *yaml.Node) {
	switch step := step.(type) {
	case string:
		if n.Kind == yaml.MappingNode {
			return field(n, step)
		}
	case int:
		if n.Kind == yaml.SequenceNode && step >= 0 && step < len(n.Content) {
			return nil, n.Content[step]
		}
	}
	return nil, nil
}

// field returns a key in a mapping and its value: first of its own keys, then of those merged in.
func field(n *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := resolve(n.Content[i]); k.Kind == yaml.ScalarNode && k.Value == name && !isMerge(k) {
			return n.Content[i], n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		for _, m := range mergeSources(n.Content[i+1]) {
			if key, value = field(m, name); value != nil {
				return key, value
			}
		}
	}
	return nil, nil
}

// isMerge reports whether a key is the merge key << and not a quoted "<<".
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" &&
		(k.Tag == "" || k.Tag == "!" || k.ShortTag() == "!!merge")
}

// mergeSources returns the mappings of a merge key; the first one takes precedence.
func mergeSources(v *yaml.Node) []*yaml.Node {
	v = resolve(v)
	switch v.Kind {
	case yaml.MappingNode:
		return []*yaml.Node{v}
	case yaml.SequenceNode:
		var sources []*yaml.Node
		for _, item := range v.Content {
			if item = resolve(item); item.Kind == yaml.MappingNode {
				sources = append(sources, item)
			}
		}
		return sources
	}
	return nil
}

// Value converts a node to plain Go values. Errors name the file. See Object.Value.
func Value(file string, n *yaml.Node) (any, error) { return decoder{file: file}.value(n) }

// decoder converts nodes to plain Go values.
type decoder struct {
	file string
	// lastWins allows duplicate keys; the last one is used, as in encoding/json.
	lastWins bool
}

func (d decoder) value(n *yaml.Node) (any, error) {
	n = resolve(n)
	switch n.Kind {
	case yaml.ScalarNode:
		return scalar(d.file, n)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			v, err := d.value(item)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.MappingNode:
		return d.mapping(n)
	}
	return nil, nil
}

func (d decoder) mapping(n *yaml.Node) (map[string]any, error) {
	m := make(map[string]any, len(n.Content)/2)
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if isMerge(key) {
			continue
		}
		k := resolve(key)
		if k.Kind != yaml.ScalarNode {
			return nil, nodeError(d.file, key, "a key must be a scalar, not a list or a map")
		}
		if before, twice := first[k.Value]; twice && !d.lastWins {
			return nil, nodeError(d.file, key, "key %q is set twice, first on line %d", k.Value, before.Line)
		}
		first[k.Value] = key
		v, err := d.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		m[k.Value] = v
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		for _, source := range mergeSources(n.Content[i+1]) {
			merged, err := d.mapping(source)
			if err != nil {
				return nil, err
			}
			for k, v := range merged {
				if _, own := m[k]; !own {
					m[k] = v
				}
			}
		}
	}
	return m, nil
}

func nodeError(file string, n *yaml.Node, format string, args ...any) *Error {
	return &Error{Reason: NotYAML, Path: file, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)}
}

// scalar converts a scalar as kustomize does: by the rules of go.yaml.in/yaml/v3, so that yes and
// on are strings, 0644 is an octal number and a date is a string.
func scalar(file string, n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case nullTag:
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int":
		if i, err := strconv.ParseInt(n.Value, 10, 64); err == nil && (n.Value == "0" || n.Value[0] != '0') {
			return i, nil
		}
		return number(file, n)
	case "!!float":
		return number(file, n)
	case "!!binary":
		var s string
		if err := n.Decode(&s); err != nil {
			return nil, nodeError(file, n, "a !!binary value must be base64")
		}
		return s, nil
	}
	return n.Value, nil
}

// number converts a number with the library, which knows the rarer notations (hexadecimal, 1_000, 1e3).
// JSON has no infinity and no NaN: they stay strings.
func number(file string, n *yaml.Node) (any, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, nodeError(file, n, "%q is not a number", n.Value)
	}
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64, uint64:
		return v, nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return n.Value, nil
		}
		return v, nil
	}
	return n.Value, nil
}
