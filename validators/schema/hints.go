package schema

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// asWritten returns a problem's hint with the value as it is written in the document: 1.10 and 0755 are numbers in
// another notation, and Flux replaces variables after it has removed the quotes.
// Source: fluxcd.io/flux/components/kustomize/kustomizations, post build variable substitution.
func asWritten(o *repository.Object, p schemas.Problem) string {
	if o == nil || !strings.HasPrefix(p.Hint, "quote it") {
		return p.Hint
	}
	n := o.Lookup(p.Path...)
	switch {
	case n == nil || n.Kind != yaml.ScalarNode:
	case strings.Contains(n.Value, "${") && len(n.Value) < 60:
		return fmt.Sprintf("quotes are lost here: write ${quote}%s${quote}, and define the variable quote: '\"'", n.Value)
	case strings.Contains(n.Value, "${"):
		return "quotes are lost here: write ${quote} before and after it, and define the variable quote: '\"'"
	case n.Style == 0 && strings.HasPrefix(p.Hint, `quote it: "`):
		return fmt.Sprintf("quote it: %q", n.Value)
	}
	return p.Hint
}

// placeInSource returns the place of a problem in the document that an object was built from.
func placeInSource(o *reconcile.Object, p schemas.Problem) finding.Place {
	if o.Source == nil {
		return finding.Place{}
	}
	line, column := o.Source.Position(p.Path...)
	return finding.Place{File: o.File, Line: line, Column: column}
}
