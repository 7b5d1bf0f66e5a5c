package schema

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// asWritten is a problem's hint with the value as it stands in the document: 1.10 and 0755 are
// numbers that are spelt otherwise.
func asWritten(o *repository.Object, p schemas.Problem) string {
	if o == nil || !strings.HasPrefix(p.Hint, `quote it: "`) {
		return p.Hint
	}
	if n := o.Lookup(p.Path...); n != nil && n.Kind == yaml.ScalarNode && n.Style == 0 && !strings.Contains(n.Value, "$") {
		return fmt.Sprintf("quote it: %q", n.Value)
	}
	return p.Hint
}

// placeInSource is where the document that an object was built from has what a problem is about.
func placeInSource(o *reconcile.Object, p schemas.Problem) (file string, line, column int) {
	if o.Source == nil {
		return "", 0, 0
	}
	line, column = o.Source.Position(p.Path...)
	return o.File, line, column
}
