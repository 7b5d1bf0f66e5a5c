package calls

import (
	"math"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// callsReplace reports whether an expression calls replace().
func callsReplace(expression ast.Expr) bool {
	found := false
	ast.PreOrderVisit(expression, ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "replace"
	}))
	return found
}

// lengths computes upper bounds of the lengths, in bytes, of the strings that an expression creates.
type lengths struct {
	// longest is the length of the longest string in the objects.
	longest float64
	// variables are the bounds of the variables of comprehensions.
	variables map[string]float64
	// most is the largest bound of all calls of replace().
	most float64
}

// of returns the bound of an expression's value; for a list or map, of each of its elements.
func (m *lengths) of(e ast.Expr) float64 {
	switch e.Kind() {
	case ast.LiteralKind:
		if text, ok := e.AsLiteral().(types.String); ok {
			return float64(len(text))
		}
		return shortest
	case ast.IdentKind:
		if bound, known := m.variables[e.AsIdent()]; known {
			return bound
		}
		return m.longest
	case ast.SelectKind:
		return max(m.longest, m.of(e.AsSelect().Operand()))
	case ast.ListKind:
		return m.largest(e.AsList().Elements())
	case ast.MapKind:
		bound := 0.0
		for _, entry := range e.AsMap().Entries() {
			bound = max(bound, m.of(entry.AsMapEntry().Key()), m.of(entry.AsMapEntry().Value()))
		}
		return bound
	case ast.ComprehensionKind:
		return m.comprehension(e.AsComprehension())
	case ast.CallKind:
		return m.call(e.AsCall())
	}
	return m.longest
}

// shortest is the maximum length of a number, a time or a boolean as a string.
const shortest = 64

func (m *lengths) largest(all []ast.Expr) float64 {
	bound := 0.0
	for _, e := range all {
		bound = max(bound, m.of(e))
	}
	return bound
}

func (m *lengths) comprehension(c ast.ComprehensionExpr) float64 {
	before := m.variables
	m.variables = map[string]float64{}
	for name, bound := range before {
		m.variables[name] = bound
	}
	elements := max(m.of(c.IterRange()), shortest)
	m.variables[c.IterVar()] = elements
	if c.HasIterVar2() {
		m.variables[c.IterVar2()] = elements
	}
	m.variables[c.AccuVar()] = m.of(c.AccuInit())
	bound := max(m.of(c.LoopStep()), m.of(c.LoopCondition()))
	m.variables[c.AccuVar()] = max(bound, m.variables[c.AccuVar()])
	bound = max(bound, m.of(c.Result()))
	m.variables = before
	return bound
}

func (m *lengths) call(c ast.CallExpr) float64 {
	arguments := c.Args()
	if c.IsMemberFunction() {
		arguments = append([]ast.Expr{c.Target()}, arguments...)
	}
	bounds := make([]float64, len(arguments))
	for i, e := range arguments {
		bounds[i] = m.of(e)
	}
	switch name := c.FunctionName(); {
	case name == "replace" && len(bounds) >= 3:
		text, places, with := bounds[0], bounds[0]+1, bounds[2]
		if old, is := textOf(arguments[1]); is && len(old) > 0 {
			places = bounds[0] / float64(len(old))
		}
		bound := text + places*with
		m.most = max(m.most, bound)
		return bound
	case name == "_+_" || name == "join" || name == "format":
		sum := 0.0
		for _, bound := range bounds {
			sum += bound
		}
		return sum
	}
	bound := 0.0
	for _, b := range bounds {
		bound = max(bound, b)
	}
	return bound
}

// checkLengths returns an *Error if an expression may create a string that is too long. longest is the length of the
// longest string in the objects.
func (c *Calls) checkLengths(longest int) error {
	for _, e := range c.replacing {
		m := lengths{longest: float64(longest)}
		if most := max(m.of(e), m.most); most > limits.ReplacedBytes || math.IsNaN(most) {
			return count.Errorf("replace() in an expression may create a string of more than %d MB", limits.ReplacedBytes>>20)
		}
	}
	return nil
}
