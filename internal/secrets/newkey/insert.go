package newkey

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
)

var errShape = errors.New("the public key has no place in the Encryption as it is laid out")

// insertion is the edit that adds a text to the list at a path, with the maps around it that are
// not there yet. What stands in the file stays as it is.
func insertion(root *yaml.Node, path []string, text string) (finding.Edit, error) {
	at := root
	for i, name := range path {
		if at.Kind != yaml.MappingNode {
			return finding.Edit{}, errShape
		}
		key, value := entry(at, name)
		switch {
		case key == nil:
			return addEntry(at, path[i:], text)
		case value.Kind == yaml.AliasNode:
			return finding.Edit{}, errShape
		case value.Kind == yaml.ScalarNode && value.Value == "" && value.Tag == "!!null":
			return fillEmpty(at, key, path[i+1:], text)
		}
		at = value
	}
	return addItem(at, text)
}

func entry(m *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

// addItem adds to a list that is there.
func addItem(list *yaml.Node, text string) (finding.Edit, error) {
	if list.Kind != yaml.SequenceNode {
		return finding.Edit{}, errShape
	}
	if len(list.Content) == 0 {
		return finding.Edit{Line: list.Line, Column: list.Column, Old: "[]", New: "[" + text + "]"}, nil
	}
	last := list.Content[len(list.Content)-1]
	if list.Style&yaml.FlowStyle == 0 {
		return below(last, strings.Repeat(" ", list.Column-1)+"- "+text), nil
	}
	raw := last.Value
	switch {
	case last.Kind != yaml.ScalarNode:
		return finding.Edit{}, errShape
	case last.Style&yaml.DoubleQuotedStyle != 0:
		raw = `"` + raw + `"`
	case last.Style&yaml.SingleQuotedStyle != 0:
		raw = "'" + raw + "'"
	}
	return finding.Edit{Line: last.Line, Column: last.Column, Old: raw, New: raw + ", " + text}, nil
}

// below adds a line after the one on which a node ends.
func below(n *yaml.Node, line string) finding.Edit {
	return finding.Edit{Line: lastLine(n) + 1, Column: 1, New: line + "\n"}
}

func lastLine(n *yaml.Node) int {
	line := n.Line
	for _, child := range n.Content {
		line = max(line, lastLine(child))
	}
	return line
}

// addEntry adds a key to a map, with what is below it.
func addEntry(m *yaml.Node, path []string, text string) (finding.Edit, error) {
	if m.Style&yaml.FlowStyle != 0 {
		flow := "[" + text + "]"
		for i := len(path) - 1; i > 0; i-- {
			flow = "{" + path[i] + ": " + flow + "}"
		}
		flow = path[0] + ": " + flow
		if len(m.Content) > 0 {
			flow += ", "
		}
		return finding.Edit{Line: m.Line, Column: m.Column, Old: "{", New: "{" + flow}, nil
	}
	if len(m.Content) == 0 {
		return finding.Edit{}, errShape
	}
	return below(m, nested(m.Column-1, path, text)), nil
}

// fillEmpty puts a list below a key that has no value.
func fillEmpty(m, key *yaml.Node, path []string, text string) (finding.Edit, error) {
	if m.Style&yaml.FlowStyle != 0 {
		return finding.Edit{}, errShape
	}
	return finding.Edit{Line: key.Line + 1, Column: 1, New: nested(m.Column+1, path, text) + "\n"}, nil
}

// nested are keys below one another, in blocks, and a list below the last.
func nested(indent int, path []string, text string) string {
	var lines []string
	for i, key := range path {
		lines = append(lines, strings.Repeat(" ", indent+2*i)+key+":")
	}
	return strings.Join(append(lines, strings.Repeat(" ", indent+2*len(path))+"- "+text), "\n")
}
