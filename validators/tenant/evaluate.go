package tenant

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/count/calls"
)

func (e *evaluator) evaluate(ctx context.Context, expression string, input map[string]any) (any, error) {
	e.spent += stepCost
	if e.spent > mostTotal || len(expression) > mostExpression || ctx.Err() != nil {
		return nil, errUndecided
	}
	unknown := []string{"authorizer", "params"}
	if about, _ := input["request"].(map[string]any); about["userInfo"] == nil {
		unknown = append(unknown, "userInfo")
	}
	text, literals := hoist(expression)
	if slices.ContainsFunc(unknown, func(word string) bool { return strings.Contains(text, word) }) {
		return nil, errUndecided
	}
	if e.passes(expression) == nil {
		return nil, errUndecided
	}
	program, compiled := e.programs[text]
	if !compiled {
		program = e.compile(text)
		e.programs[text] = program
	}
	if program == nil {
		return nil, errUndecided
	}
	given := make(map[string]any, len(input)+len(literals))
	maps.Copy(given, input)
	for name, value := range literals {
		given[name] = value
	}
	if err := e.passes(expression).Check(input, &count.Steps{}); err != nil {
		return nil, err
	}
	value, details, err := program.ContextEval(ctx, given)
	if details != nil && details.ActualCost() != nil {
		e.spent += *details.ActualCost()
	} else {
		e.spent += mostCost
	}
	if err != nil {
		return nil, err
	}
	return value.Value(), nil
}

// passes reads what an expression passes to functions that no cost bounds; nil where it is not evaluated.
func (e *evaluator) passes(expression string) *calls.Calls {
	if !calls.Mentioned(expression) {
		return &calls.Calls{}
	}
	passed, known := e.passed[expression]
	if known {
		return passed
	}
	e.spent += uint64(len(expression)) * byteCost
	if ast, issues := e.env.Parse(expression); issues.Err() == nil {
		passed = &calls.Calls{}
		if passed.Add(ast.NativeRep().Expr()) != nil {
			passed = nil
		}
	}
	e.passed[expression] = passed
	return passed
}

// compile makes a program of an expression; nil where it is none. Types are not checked:
// everything in it is dynamic.
func (e *evaluator) compile(text string) cel.Program {
	e.spent += uint64(len(text)) * byteCost
	ast, issues := e.env.Parse(text)
	if issues.Err() != nil {
		return nil
	}
	program, err := e.env.Program(ast, cel.CostLimit(mostCost), cel.InterruptCheckFrequency(100), cel.EvalOptions(cel.OptTrackCost))
	if err != nil {
		return nil
	}
	return program
}
