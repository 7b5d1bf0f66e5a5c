// Package calls reads what expressions of CEL pass to functions that no cost bounds.
package calls

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/fleetwright/fleetwright/internal/count"
)

// ErrComposed is about an expression that composes the text that it passes on, so that nothing can be
// counted: evaluating it has to be measured.
var ErrComposed = count.Errorf("an expression composes the text that it passes to quantity() or matches()")

// Calls are what expressions of CEL pass to functions whose cost in CEL doesn't grow with what they do:
// quantity() computes with all digits of a number, matches() compiles its argument, and replace() makes
// a text before its cost is counted.
type Calls struct {
	// numbers and patterns say that the objects pass texts to them.
	numbers, patterns bool
	// largest is the size of the largest regular expression in the expressions.
	largest int
	// making are the expressions that call replace().
	making []ast.Expr
}

// Add adds an expression. It returns an *Error where what the expression passes on is above a limit, or
// cannot be known from the objects.
func (c *Calls) Add(expression ast.Expr) error {
	if makes(expression) {
		c.making = append(c.making, expression)
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
			if _, above := err.(*count.Error); above { //nolint:errorlint // what Instructions returns is not wrapped
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

// patternOf is the regular expression that a call compiles: the second text that it has.
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

// buildsText says whether a call may return a text that is no part of a text that it gets.
func buildsText(call ast.CallExpr) bool {
	switch call.FunctionName() {
	case "_+_":
		for _, operand := range call.Args() {
			if operand.Kind() != ast.LiteralKind {
				continue
			}
			if _, isText := operand.AsLiteral().(types.String); !isText {
				return false // numbers are added
			}
		}
		return true
	case "join", "replace", "format", "reverse", "getQuery", "getEscapedPath", "base64.decode", "base64.encode":
		return true
	}
	return false
}

// Check returns an *Error where the expressions would pass a text of the value on that is above a limit,
// or compare its texts with a regular expression that is too large for them.
func (c *Calls) Check(value any, steps *count.Steps) error {
	if !c.numbers && !c.patterns && c.largest <= SmallPattern && len(c.making) == 0 {
		return nil
	}
	w := callWalk{Calls: c, largest: c.largest}
	if err := w.value(value); err != nil {
		return err
	}
	if err := c.checkMade(w.longest); err != nil || w.largest <= SmallPattern {
		return err
	}
	return steps.Take(w.largest, w.bytes)
}

// SmallPattern is the size of a regular expression whose matches cost what CEL says.
const SmallPattern = 2_000

type callWalk struct {
	*Calls
	largest, bytes int
	longest        int // text, in bytes
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
		return count.Errorf("a text holds a number of more than %d digits, or with an exponent above %d", count.MostDigits, count.MostExponent)
	}
	if !w.patterns || len(text) <= SmallPattern/2 && !strings.Contains(text, "{") {
		return nil
	}
	size, err := count.Instructions(text)
	if above, ok := err.(*count.Error); ok { //nolint:errorlint // what Instructions returns is not wrapped
		return above
	}
	w.largest = max(w.largest, size)
	return nil
}

// Mentioned says whether an expression may call such a function.
func Mentioned(expression string) bool {
	for _, name := range []string{"uantity", "matches", "find", "replace"} {
		if strings.Contains(expression, name) {
			return true
		}
	}
	return false
}
