package tenant

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/count/calls"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

func (e *evaluator) evaluate(ctx context.Context, expression string, input map[string]any) (any, error) {
	e.spent += stepCost
	switch {
	case e.spent > limits.PolicyCost:
		return nil, errTotal
	case len(expression) > limits.CELCharacters:
		return nil, count.Errorf("an expression has %d characters; the limit is %d", len(expression), limits.CELCharacters)
	case ctx.Err() != nil:
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
	passed := e.passes(expression)
	if passed.err != nil && !errors.Is(passed.err, calls.ErrComposed) {
		return nil, passed.err
	}
	program, compiled := e.programs[text]
	if !compiled {
		program = e.compile(text)
		e.programs[text] = program
	}
	if program == nil {
		return nil, errUndecided
	}
	variables := make(map[string]any, len(input)+len(literals))
	maps.Copy(variables, input)
	for name, value := range literals {
		variables[name] = value
	}
	err := passed.err
	if err == nil {
		err = passed.calls.Check(variables, &count.Steps{})
	}
	if err != nil && !errors.Is(err, calls.ErrComposed) {
		return nil, err
	}
	run := func() (evaluated, error) { return evaluate(ctx, program, variables) }
	var result evaluated
	if err == nil {
		result, err = run()
	} else { // no steps can be counted: a guard ends the evaluation
		result, err = bounds.Do(e.unit, run)
	}
	e.spent += result.cost
	if err != nil {
		return nil, err
	}
	return result.value.Value(), nil
}

// evaluated is a value with the cost of its evaluation.
type evaluated struct {
	value ref.Val
	cost  uint64
}

// evaluate runs a program.
func evaluate(ctx context.Context, program cel.Program, variables map[string]any) (evaluated, error) {
	value, details, err := program.ContextEval(ctx, variables)
	cost := uint64(limits.CELCost)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded {
		return evaluated{cost: cost}, count.Errorf("an expression costs more than %d", limits.CELCost)
	}
	return evaluated{value, cost}, err
}

// errTotal is the error for exceeding the total cost of the policies of all clusters.
var errTotal = count.Errorf("the policies of all clusters cost more than %d", limits.PolicyCost)

// exceed records that a policy exceeds a limit.
func (e *evaluator) exceed(policy *reconcile.Object, err error) {
	var limit *count.Error
	if errors.As(err, &limit) && policy != nil && e.exceeded[policy] == "" {
		e.exceeded[policy] = limit.Error()
	}
}

// isSpent reports whether policies are no longer evaluated, because all together have exceeded the cost limit.
func (e *evaluator) isSpent() bool { return e.spent > limits.PolicyCost }

// report reports the policies that exceed a limit.
func (e *evaluator) report(p *rule.Pass) {
	for policy, why := range e.exceeded {
		p.ReportBuilt(policy, rule.Exceeded(finding.Finding{}, policy.String(), why), "kind")
	}
}

// passing holds the arguments that an expression passes to functions whose cost CEL does not limit. err is the
// reason if they are unknown.
type passing struct {
	calls *calls.Calls
	err   error
}

// passes returns the arguments that an expression passes to functions whose cost CEL does not limit. It
// replaces all other literals by variables first, so that the similar policies of many tenants are parsed once.
func (e *evaluator) passes(expression string) passing {
	if !calls.Mentioned(expression) {
		return passing{calls: &calls.Calls{}}
	}
	if !strings.Contains(expression, "replace") { // the literals of replace limit its result
		expression, _ = hoistExceptArguments(expression)
	}
	passed, known := e.passed[expression]
	if known {
		return passed
	}
	e.spent += uint64(len(expression)) * byteCost
	passed = passing{calls: &calls.Calls{}}
	if ast, issues := e.env.Parse(expression); issues.Err() != nil {
		passed.err = errUndecided
	} else {
		passed.err = passed.calls.Add(ast.NativeRep().Expr())
	}
	e.passed[expression] = passed
	return passed
}

// compile compiles an expression; nil if it is invalid. Types are not checked: everything is dynamic.
func (e *evaluator) compile(text string) cel.Program {
	e.spent += uint64(len(text)) * byteCost
	ast, issues := e.env.Parse(text)
	if issues.Err() != nil {
		return nil
	}
	program, err := e.env.Program(ast, cel.CostLimit(limits.CELCost), cel.InterruptCheckFrequency(100), cel.EvalOptions(cel.OptTrackCost))
	if err != nil {
		return nil
	}
	return program
}
