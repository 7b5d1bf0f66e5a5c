package strict

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of one document, as a protection against hostile input. Real specifications are far below them.
const (
	maxDepth    = 100
	maxExpanded = 100_000
)

// Dereference returns the node that an alias refers to, or the node itself.
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

// flatten returns the pairs of a mapping, including those of merge keys (<<). The mapping's own pairs come first and take
// precedence, then earlier merges over later ones, as in https://yaml.org/type/merge.html. Duplicate keys of a mapping
// are all returned. The caller must have checked the shape of the document: flatten would never return for a mapping that
// merges itself.
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

// Describe returns the kind of a node's value for a message.
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

// described is [Describe], but hides a scalar where a person may have written a secret itself instead of
// its source.
func described(p *Path, n *yaml.Node) string {
	if n := Dereference(n); p != nil && strings.HasSuffix(p.String(), ".from") && n.Kind == yaml.ScalarNode {
		return "a string that is hidden"
	}
	return Describe(n)
}

// shape measures a document with its aliases expanded, without expanding them,
// so that an alias bomb costs nothing.
type shape struct {
	anchors  map[*yaml.Node]extent
	expanded int // number of nodes that the aliases so far expand to
	fault    *yaml.Node
	problem  string
	hint     string
}

// extent is the size of an expanded node; it is zero while it is being measured.
type extent struct{ nodes, height int }

// CheckShape returns the node at which a document becomes too deep, too large or infinite, with the reason; nil if it is
// within the limits.
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

// measure returns the number of nodes in n with aliases expanded, and its height. It checks the
// depth of a node when it descends, and that of an alias by its height.
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
		return s.fail(n, "write the value itself", "alias *%s is within its own anchor", n.Value)
	case depth+e.height > maxDepth:
		return s.fail(n, "write the value itself, less deeply nested", "alias *%s nests deeper than %d levels", n.Value, maxDepth)
	}
	if s.expanded += e.nodes; s.expanded > maxExpanded {
		return s.fail(n, "write the values themselves, or use fewer aliases", "aliases expand to more than %d values", maxExpanded)
	}
	return e
}
