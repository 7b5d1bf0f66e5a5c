// Package calls reads the arguments that CEL expressions pass to functions whose cost CEL does not bound.
package calls

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// ErrComposed reports an expression that composes the string that it passes on, so that it cannot be
// counted in advance: its evaluation must be guarded.
var ErrComposed = count.Errorf("an expression composes the string that it passes to quantity() or matches()")

// Calls are the arguments that CEL expressions pass to functions whose estimated cost in CEL is too
// low: quantity() computes with all digits of a number, matches() compiles its argument, and replace()
// creates a string before its cost is counted.
type Calls struct {
	// numbers and patterns are set if the expressions pass strings of the objects to quantity() or matches().
	numbers, patterns bool
	// largest is the size of the largest regular expression in the expressions.
	largest int
	// replacing are the expressions that call replace().
	replacing []ast.Expr
}

// Add adds an expression. It returns an *Error if an argument of the expression is above a limit, or
// cannot be known from the objects.
func (c *Calls) Add(expression ast.Expr) error {
	if callsReplace(expression) {
		c.replacing = append(c.replacing, expression)
	}
	var reads, builds bool
	var failed error
	literals := callWalk{Calls: &Calls{}}
	var texts []string
	ast.PreOrderVisit(expression, ast.NewExprVisitor(func(e ast.Expr) {
		if text, isText := textOf(e); isText {
			texts = append(texts, text)
		}
		if e.Kind() != ast.CallKind || failed != nil {
			return
		}
		call := e.AsCall()
		builds = builds || buildsText(call)
		arguments := call.Args()
		if len(arguments) == 0 {
			return
		}
		switch call.FunctionName() {
		case "quantity", "isQuantity":
			if text, isText := textOf(arguments[0]); isText {
				failed = count.Number(text)
				return
			}
			literals.numbers, reads = true, true
		case "matches", "find", "findAll":
			text, isText := patternOf(call)
			if !isText {
				literals.patterns, reads = true, true
				return
			}
			size, err := count.Instructions(text)
			if _, above := err.(*count.Error); above { //nolint:errorlint // the error of Instructions is not wrapped
				failed = err
			}
			c.largest = max(c.largest, size)
		}
	}))
	c.numbers, c.patterns = c.numbers || literals.numbers, c.patterns || literals.patterns
	if failed != nil {
		return failed
	}
	if reads && builds {
		return ErrComposed
	}
	for _, text := range texts {
		if err := literals.text(text); err != nil {
			return err
		}
	}
	return nil
}

// patternOf returns the regular expression that a call compiles, and false if it is not a literal.
func patternOf(call ast.CallExpr) (string, bool) {
	at := 1
	if call.IsMemberFunction() {
		at = 0
	}
	if at >= len(call.Args()) {
		return "", true // no such function: CEL refuses it
	}
	return textOf(call.Args()[at])
}

func textOf(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().(types.String)
	return string(text), ok
}

// buildsText reports whether a call may return a string that is not part of one of its arguments.
func buildsText(call ast.CallExpr) bool {
	switch call.FunctionName() {
	case "_+_":
		for _, operand := range call.Args() {
			if operand.Kind() != ast.LiteralKind {
				continue
			}
			if _, isText := operand.AsLiteral().(types.String); !isText {
				return false // the operands are numbers
			}
		}
		return true
	case "join", "replace", "format", "reverse", "getQuery", "getEscapedPath", "base64.decode", "base64.encode":
		return true
	}
	return false
}

// Check returns an *Error if the expressions would pass on a string of the value that is above a
// limit, or match its strings with a regular expression that is too large for them.
func (c *Calls) Check(value any, steps *count.Steps) error {
	if !c.numbers && !c.patterns && c.largest <= SmallPattern && len(c.replacing) == 0 {
		return nil
	}
	w := callWalk{Calls: c, largest: c.largest}
	if err := w.value(value); err != nil {
		return err
	}
	if err := c.checkLengths(w.longest); err != nil || w.largest <= SmallPattern {
		return err
	}
	return steps.Take(w.largest, w.bytes)
}

// SmallPattern is the largest regular expression, in instructions, whose matches cost what CEL estimates.
const SmallPattern = 2_000

type callWalk struct {
	*Calls
	largest, bytes int
	longest        int // length of the longest string, in bytes
}

func (w *callWalk) value(value any) error {
	switch v := value.(type) {
	case string:
		return w.text(v)
	case []any:
		for _, item := range v {
			if err := w.value(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, item := range v {
			if err := w.text(key); err != nil {
				return err
			}
			if err := w.value(item); err != nil {
				return err
			}
		}
	case nil, bool, int, int64, uint64, float64:
	default:
		if w.numbers || w.patterns {
			return ErrComposed
		}
	}
	return nil
}

func (w *callWalk) text(text string) error {
	w.bytes += len(text)
	w.longest = max(w.longest, len(text))
	if w.numbers && count.HoldsNumber(text) {
		return count.Errorf("a string contains a number of more than %d digits, or with an exponent above %d", limits.Digits, limits.Digits)
	}
	if !w.patterns || len(text) <= SmallPattern/2 && !strings.Contains(text, "{") {
		return nil
	}
	size, err := count.Instructions(text)
	if above, ok := err.(*count.Error); ok { //nolint:errorlint // the error of Instructions is not wrapped
		return above
	}
	w.largest = max(w.largest, size)
	return nil
}

// Mentioned reports whether an expression may call one of the functions that Calls counts.
func Mentioned(expression string) bool {
	for _, name := range []string{"uantity", "matches", "find", "replace"} {
		if strings.Contains(expression, name) {
			return true
		}
	}
	return false
}
