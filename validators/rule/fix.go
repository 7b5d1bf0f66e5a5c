package rule

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// ReplaceText is the fix that writes another text in place of the one at a path of the
// object's document. It is nil where that text stands elsewhere too, or is not written out
// there: behind an alias, in a block, or in another repository.
func (p *Pass) ReplaceText(o *reconcile.Object, text string, path ...any) *finding.Fix {
	n := p.own(o, path...)
	if n == nil || n.Kind != yaml.ScalarNode || n.Anchor != "" || strings.ContainsAny(n.Value+text, "\"'\\\n: #") {
		return nil
	}
	quote := ""
	switch n.Style &^ yaml.TaggedStyle {
	case 0:
	case yaml.SingleQuotedStyle:
		quote = "'"
	case yaml.DoubleQuotedStyle:
		quote = `"`
	default:
		return nil
	}
	return &finding.Fix{Edits: []finding.Edit{{
		File: o.File, Line: n.Line, Column: n.Column, Old: quote + n.Value + quote, New: quote + text + quote,
	}}}
}

// AddField is the fix that writes a field, as "name: value", in front of the first one of the
// map at a path of the object's document. It is nil where there is no such map in the
// repository, or an empty one.
func (p *Pass) AddField(o *reconcile.Object, field string, path ...any) *finding.Fix {
	n := p.own(o, path...)
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil
	}
	first := n.Content[0]
	name, _, _ := strings.Cut(field, ":")
	if fieldOf(n, name) != nil {
		return nil // it is there, without a value
	}
	if n.Style&yaml.FlowStyle == 0 && n.Column != first.Column {
		return nil // "? name" in front of ": value"
	}
	if first.Anchor != "" || first.Tag == "!!merge" || first.Style != 0 {
		return nil
	}
	after := "\n" + strings.Repeat(" ", first.Column-1)
	if n.Style&yaml.FlowStyle != 0 {
		after = ", "
	}
	return &finding.Fix{Edits: []finding.Edit{{
		File: o.File, Line: first.Line, Column: first.Column, Old: first.Value, New: field + after + first.Value,
	}}}
}

// own is the node at a path of the document that an object was built from, nil where that is
// none of the repository's own, or one that several objects are built from.
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

// written is the node at a path that stands there itself: nil behind an alias or a merge key.
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
