package strict

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of one document, against hostile input. Real specifications stay far
// below them.
const (
	maxDepth    = 100
	maxExpanded = 100_000
)

// Dereference follows an alias to the node that it stands for.
func Dereference(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull reports whether a node is null.
func IsNull(n *yaml.Node) bool {
	n = Dereference(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge"
}

// pair is a key of a mapping with its value.
type pair struct{ key, value *yaml.Node }

// flatten returns the pairs of a mapping with those that merge keys (<<) bring
// in; the mapping's own pairs come first and win, then earlier merges over
// later ones, as https://yaml.org/type/merge.html says. Keys that a mapping
// itself repeats are all returned. The shape of the document must have been
// checked: a mapping that merges itself would not end.
func flatten(n *yaml.Node) []pair {
	own := make([]pair, 0, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			own = append(own, pair{n.Content[i], n.Content[i+1]})
			continue
		}
		if from := Dereference(n.Content[i+1]); from.Kind == yaml.SequenceNode {
			merged = append(merged, from.Content...)
		} else {
			merged = append(merged, from)
		}
	}
	if merged == nil {
		return own
	}
	taken := map[string]bool{}
	for _, p := range own {
		taken[Dereference(p.key).Value] = true
	}
	for _, from := range merged {
		if from = Dereference(from); from.Kind != yaml.MappingNode {
			continue
		}
		for _, p := range flatten(from) {
			if name := Dereference(p.key).Value; !taken[name] {
				taken[name] = true
				own = append(own, p)
			}
		}
	}
	return own
}

// Describe names what a node holds, for a message.
func Describe(n *yaml.Node) string {
	n = Dereference(n)
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the boolean " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	case "!!str":
		return "the string " + quoteValue(n.Value)
	}
	return "a value with a tag" // a password may begin with "!"
}

// described is [describe], without the value where a person may have written a secret itself instead of
// where it comes from.
func described(p *Path, n *yaml.Node) string {
	if n := Dereference(n); p != nil && strings.HasSuffix(p.String(), ".from") && n.Kind == yaml.ScalarNode {
		return "a string that is not shown"
	}
	return Describe(n)
}

// shape measures a document with its aliases expanded, without expanding them,
// so that an alias bomb costs nothing.
type shape struct {
	anchors  map[*yaml.Node]extent
	expanded int // nodes that the aliases so far stand for
	fault    *yaml.Node
	problem  string
	hint     string
}

// extent is the size of an expanded node; a zero one is still being measured.
type extent struct{ nodes, height int }

// CheckShape returns the node at which a document becomes too deep, too large
// or endless, and why; nil when it is sound.
func CheckShape(doc *yaml.Node) (fault *yaml.Node, problem, hint string) {
	s := &shape{anchors: map[*yaml.Node]extent{}}
	s.measure(doc, 0)
	return s.fault, s.problem, s.hint
}

func (s *shape) fail(n *yaml.Node, hint, format string, args ...any) extent {
	if s.fault == nil {
		s.fault, s.problem, s.hint = n, fmt.Sprintf(format, args...), hint
	}
	return extent{}
}

// measure returns how many nodes n has when aliases are expanded, and its
// height. A node's own depth is bounded on the way down, an alias's by its
// height.
func (s *shape) measure(n *yaml.Node, depth int) extent {
	if s.fault != nil {
		return extent{}
	}
	if depth > maxDepth {
		return s.fail(n, "nest less deeply", "nested deeper than %d levels", maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return s.measureAlias(n, depth)
	}
	if n.Anchor != "" {
		s.anchors[n] = extent{}
	}
	total := extent{nodes: 1}
	for _, child := range n.Content {
		e := s.measure(child, depth+1)
		total.nodes += e.nodes
		total.height = max(total.height, e.height)
	}
	total.height++
	if n.Anchor != "" {
		s.anchors[n] = total
	}
	return total
}

func (s *shape) measureAlias(n *yaml.Node, depth int) extent {
	e := s.anchors[n.Alias]
	switch {
	case e.height == 0:
		return s.fail(n, "write the value out", "alias *%s stands inside of its own anchor", n.Value)
	case depth+e.height > maxDepth:
		return s.fail(n, "write the value out, less deeply nested", "alias *%s nests deeper than %d levels", n.Value, maxDepth)
	}
	if s.expanded += e.nodes; s.expanded > maxExpanded {
		return s.fail(n, "write the values out, or use fewer aliases", "aliases expand to more than %d values", maxExpanded)
	}
	return e
}
