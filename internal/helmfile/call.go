package helmfile

import (
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
)

// call is an item of helmfiles: another helmfile that this one runs.
type call struct {
	path      located.Text
	selectors []string
	// inherits says that the called helmfile inherits fields of this one.
	inherits bool
	values   []entry
}

// newCall reads an item of helmfiles: a path, or a map with a path.
func newCall(file string, n *yaml.Node) call {
	if n.Kind == yaml.ScalarNode {
		return call{path: located.Text{Place: located.At(file, n.Line), Value: n.Value}}
	}
	c := call{path: located.ScalarText(file, n, "path"), values: entries(file, n, "values"), inherits: len(located.Items(n, "inherits")) > 0}
	for _, s := range located.Items(n, "selectors") {
		c.selectors = append(c.selectors, s.Value)
	}
	return c
}
