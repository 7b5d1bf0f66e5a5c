package located

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// EachField calls f with the fields of a map in a field.
func EachField(n *yaml.Node, field string, f func(name string, value *yaml.Node)) {
	m := repository.Lookup(n, field)
	if m == nil || m.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		f(m.Content[i].Value, repository.Lookup(m, m.Content[i].Value))
	}
}

// Items returns the items of the list at a path of a node, with aliases resolved.
func Items(n *yaml.Node, at ...any) []*yaml.Node {
	list := repository.Lookup(n, at...)
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]*yaml.Node, len(list.Content))
	for i := range list.Content {
		out[i] = repository.Lookup(list, i)
	}
	return out
}

// ScalarText returns the scalar in a field, "" if there is none or it is null.
func ScalarText(file string, n *yaml.Node, field string) Text {
	v := repository.Lookup(n, field)
	line, _ := repository.Position(n, field)
	if v == nil || v.Kind != yaml.ScalarNode || v.ShortTag() == "!!null" {
		return Text{Place: finding.Place{File: file, Line: line}}
	}
	return Text{Place: finding.Place{File: file, Line: line}, Value: v.Value}
}

// ReadTexts adds the scalar fields of a mapping to a map, with their places.
func ReadTexts(into map[string]Text, file string, n *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		into[n.Content[i].Value] = ScalarText(file, n, n.Content[i].Value)
	}
}

// TextAt returns the scalar at a path as a string.
func TextAt(v *Value, keys ...string) Text {
	found := v.At(keys...)
	if found == nil || found.IsMap || found.IsList || found.Scalar == nil {
		return Text{Place: v.Place}
	}
	t := Text{Place: found.Place, Value: fmt.Sprint(found.Scalar)}
	if found.Spelled != "" {
		t.Value = found.Spelled
	}
	t.Unknown = found.Unknown
	return t
}
