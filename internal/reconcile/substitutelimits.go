package reconcile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/envsubst/parse"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// bytesOfValue is the size that counts for a value that an alias references.
const bytesOfValue = 8

var tooLargeOnceReplaced = &builds.LimitError{Err: errors.New("the objects may become too large by variable substitution")}

// prepare returns the maximum of bytes that the variables in a text may add, and refuses more than most. It records the
// undefined variables.
func (vars Variables) prepare(text string, most int) (int, error) {
	if strings.Count(text, "$") > limits.ObjectVariables {
		return 0, &builds.LimitError{Err: fmt.Errorf("the object has more than %d variables", limits.ObjectVariables)}
	}
	if nesting(text) > limits.VariableNesting {
		return 0, &builds.LimitError{Err: fmt.Errorf("variables nest deeper than %d", limits.VariableNesting)}
	}
	tree, err := parse.Parse(text)
	if err != nil {
		return 0, nil //nolint:nilerr // the substitution returns the same error
	}
	m := measure{vars: vars}
	size := m.size(tree.Root)
	if size-float64(len(text)) > float64(most) {
		return 0, tooLargeOnceReplaced
	}
	if m.compared > limits.ComparedSquares {
		return 0, &builds.LimitError{Err: errors.New("a long variable is compared with a pattern")}
	}
	for _, name := range m.undefined {
		vars[name] = &Variable{Name: name, Undefined: true}
	}
	return max(0, int(size)-len(text)), nil
}

// nesting returns an upper bound of the depth at which variables are nested in others.
func nesting(text string) int {
	depth, deepest := 0, 0
	for i := range len(text) {
		switch {
		case text[i] == '{' && i > 0 && text[i-1] == '$':
			depth++
			deepest = max(deepest, depth)
		case text[i] == '}' && depth > 0:
			depth--
		}
	}
	return deepest
}

// measure computes the size of a substitution's result before it is done.
type measure struct {
	vars      Variables
	undefined []string
	compared  float64
}

// size returns the maximum of bytes of a node's result.
func (m *measure) size(node parse.Node) float64 {
	switch node := node.(type) {
	case *parse.TextNode:
		return float64(len(node.Value))
	case *parse.ListNode:
		total := 0.0
		for _, n := range node.Nodes {
			total += m.size(n)
		}
		return total
	case *parse.FuncNode:
		return m.function(node)
	}
	return 0
}

func (m *measure) function(node *parse.FuncNode) float64 {
	arguments, longest := 0.0, 0.0
	for _, n := range node.Args {
		size := m.size(n)
		arguments += size
		longest = max(longest, size)
	}
	value := float64(len(node.Param) + len("${}"))
	v, ok := m.vars[node.Param]
	if ok && v.Known {
		value = float64(len(v.Value))
	}
	if !ok && !strings.ContainsAny(node.Name, "-+=?") {
		m.undefined = append(m.undefined, node.Param)
	}
	switch node.Name {
	case "//":
		return (value + 1) * (longest + 1)
	case "#", "##", "%", "%%":
		m.compared += value * value
	}
	return value + arguments
}

// unreadable returns the position of the string in an object's document whose variables the parser refuses.
func unreadable(o *Object) (line, column int, ok bool) {
	if o.Source == nil {
		return 0, 0, false
	}
	return unreadableIn(o.Source.Node)
}

func unreadableIn(n *yaml.Node) (line, column int, ok bool) {
	for _, child := range n.Content {
		if line, column, ok = unreadableIn(child); ok {
			return line, column, ok
		}
	}
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "${") || nesting(n.Value) > limits.VariableNesting {
		return 0, 0, false
	}
	if _, err := parse.Parse(n.Value); err == nil {
		return 0, 0, false
	}
	if n.Style&yaml.LiteralStyle != 0 {
		below := 0
		for text := range strings.Lines(n.Value) {
			below++
			if _, err := parse.Parse(text); err != nil {
				return n.Line + below, 1, true
			}
		}
	}
	return n.Line, n.Column, true
}
