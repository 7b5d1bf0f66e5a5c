package schema

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// value identifies the subject of a problem: a node of a document, or a field that the node lacks.
type value struct {
	node    *yaml.Node
	lacking any
	kind    schemas.ProblemKind
}

// withoutAliases removes the problems of an alias in a document if its anchor has the same problems: they are fixed at
// the anchor.
func withoutAliases(o *repository.Object, found []located) []located {
	if o == nil || len(found) < 2 {
		return found
	}
	direct := map[value]int{}
	values := make([]value, len(found))
	for i, l := range found {
		if l.File != "" && l.File != o.File() || len(l.Path) == 0 {
			continue // it is in a patch
		}
		v := value{node: o.Lookup(l.Path...), kind: l.Kind}
		if v.node == nil {
			last := len(l.Path) - 1
			v.node, v.lacking = o.Lookup(l.Path[:last]...), l.Path[last]
		}
		values[i] = v
		// The value of an alias is written before the alias.
		behind := v.node != nil && (v.node.Line < l.Line || v.node.Line == l.Line && v.node.Column < l.Column)
		if _, known := direct[v]; v.node != nil && !behind && !known {
			direct[v] = i
		}
	}
	var few []located
	for i, l := range found {
		if first, known := direct[values[i]]; !known || slices.Equal(found[first].Path, l.Path) {
			few = append(few, l)
		}
	}
	return few
}
