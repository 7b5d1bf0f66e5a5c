package located

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// SyntaxError reports a string that is not YAML, or that exceeds the repository's limits.
type SyntaxError struct {
	file    string
	Line    int
	Message string
}

func (e *SyntaxError) Error() string { return e.file + ": " + e.Message }

// Parse parses YAML within the repository's limits.
func Parse(file, data string) ([]*yaml.Node, error) {
	const name = "text.yaml"
	one, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(name, []byte(data)) }, repository.Options{})
	if err != nil {
		return nil, err
	}
	f, ok := one.File(name)
	if !ok {
		return nil, nil
	}
	var nodes []*yaml.Node
	for _, d := range f.Documents {
		nodes = append(nodes, d.Root())
	}
	if f.Err != nil && f.Err.Reason.IsLimit() {
		bounds.Refuse(bounds.Unit{Kind: "text", File: file, Line: f.Err.Line}, f.Err.Message)
	}
	if f.Err != nil {
		return nodes, &SyntaxError{file, f.Err.Line, f.Err.Message}
	}
	return nodes, nil
}

// ShiftLines replaces the line of each node with the result of f. A literal block whose lines f does not keep together becomes a
// quoted string: only the line of its start is known.
func ShiftLines(nodes []*yaml.Node, f func(int) int) {
	for _, n := range nodes {
		if lines := strings.Count(n.Value, "\n"); n.Style&yaml.LiteralStyle != 0 && f(n.Line+lines) != f(n.Line)+lines {
			n.Style = n.Style&^yaml.LiteralStyle | yaml.DoubleQuotedStyle
		}
		n.Line = f(n.Line)
		ShiftLines(n.Content, f)
	}
}

// LineIn returns the place of a line of a string, counted from 1: in a literal block that line, otherwise the line of the node.
func LineIn(file string, n *yaml.Node, line int) finding.Place {
	if n.Style&yaml.LiteralStyle == 0 {
		line = 0
	}
	return At(file, n.Line+line)
}

// Shorten returns a string on one line and cut to 300 bytes, for an error message.
func Shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}
