package rule

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// ReplaceText returns the fix that replaces the string at a path of the object's document. It returns nil if
// the string cannot be replaced there: it is behind an alias, in a block scalar, in another repository, or
// several objects are built from the document.
func (p *Pass) ReplaceText(o *reconcile.Object, text string, path ...any) *finding.Fix {
	edit, ok := finding.Edit{}, false
	if n := p.own(o, path...); n != nil {
		edit, ok = ReplaceNode(o.File, n, text)
	}
	if !ok {
		return nil
	}
	return &finding.Fix{Edits: []finding.Edit{edit}}
}

// ReplaceNode returns the edit that replaces a scalar in a file. It returns false if the scalar is not written
// there as a plain or quoted string.
func ReplaceNode(file string, n *yaml.Node, text string) (finding.Edit, bool) {
	if n == nil || n.Kind != yaml.ScalarNode || n.Anchor != "" || strings.ContainsAny(n.Value+text, "\"'\\\n: #") {
		return finding.Edit{}, false
	}
	quote := ""
	switch n.Style &^ yaml.TaggedStyle {
	case 0:
	case yaml.SingleQuotedStyle:
		quote = "'"
	case yaml.DoubleQuotedStyle:
		quote = `"`
	default:
		return finding.Edit{}, false
	}
	return finding.Edit{Place: finding.Place{File: file, Line: n.Line, Column: n.Column}, Old: quote + n.Value + quote, New: quote + text + quote}, true
}

// AddField returns the fix that inserts a field, as "name: value", before the first field of the map at a path
// of the object's document. It returns nil if the repository has no such map, or if the map is empty.
func (p *Pass) AddField(o *reconcile.Object, field string, path ...any) *finding.Fix {
	n := p.own(o, path...)
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil
	}
	first := n.Content[0]
	name, _, _ := strings.Cut(field, ":")
	if fieldOf(n, name) != nil {
		return nil // the field exists without a value
	}
	if n.Style&yaml.FlowStyle == 0 && n.Column != first.Column {
		return nil // "? name" is before ": value"
	}
	if first.Anchor != "" || first.Tag == "!!merge" || first.Style != 0 {
		return nil
	}
	after := "\n" + strings.Repeat(" ", first.Column-1)
	if n.Style&yaml.FlowStyle != 0 {
		after = ", "
	}
	return &finding.Fix{Edits: []finding.Edit{{
		Place: finding.Place{File: o.File, Line: first.Line, Column: first.Column}, Old: first.Value, New: field + after + first.Value,
	}}}
}

// own returns the node at a path of the document that an object was built from. It returns nil if the document
// is not in the repository, or if several objects are built from it.
func (p *Pass) own(o *reconcile.Object, path ...any) *yaml.Node {
	if o == nil || o.Source == nil || o.Source.Document.File.FromItems {
		return nil
	}
	file, ok := p.Repo.File(o.File)
	if !ok || file != o.Source.Document.File {
		return nil
	}
	return written(o.Source.Node, path)
}

// written returns the node at a path. It returns nil if the node is behind an alias or a merge key.
func written(n *yaml.Node, path []any) *yaml.Node {
	for _, step := range path {
		if n == nil || n.Anchor != "" {
			return nil
		}
		switch step := step.(type) {
		case string:
			n = fieldOf(n, step)
		case int:
			if n.Kind != yaml.SequenceNode || step >= len(n.Content) {
				return nil
			}
			n = n.Content[step]
		}
	}
	return n
}

func fieldOf(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
