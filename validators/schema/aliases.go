package schema

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// value tells what problems are about apart: a node of a document, or a field that it lacks.
type value struct {
	node    *yaml.Node
	lacking any
	kind    schemas.ProblemKind
}

// withoutAliases leaves out what is told of an alias in a document where the same is told of what it
// stands for: that is the one place to mend.
func withoutAliases(o *repository.Object, found []located) []located {
	if o == nil || len(found) < 2 {
		return found
	}
	direct := map[value]int{}
	values := make([]value, len(found))
	for i, l := range found {
		if l.File != "" && l.File != o.File() || len(l.Path) == 0 {
			continue // it stands in a patch
		}
		v := value{node: o.Lookup(l.Path...), kind: l.Kind}
		if v.node == nil {
			last := len(l.Path) - 1
			v.node, v.lacking = o.Lookup(l.Path[:last]...), l.Path[last]
		}
		values[i] = v
		// What an alias stands for is written before it.
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
