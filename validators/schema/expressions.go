package schema

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// expressionProblems returns a problem for each expression in spec.healthCheckExprs and spec.dependsOn of a Kustomization
// or HelmRelease that Flux cannot compile or evaluate. A string with a variable is not checked. Flux stalls before it
// builds anything if it cannot compile an expression.
// Source: github.com/fluxcd/kustomize-controller v1.9, internal/controller/kustomization_controller.go (Reconcile,
// evalReadyExpr), and helm-controller v1.6, helmrelease_controller.go.
func expressionProblems(object map[string]any) []schemas.Problem {
	o := reconcile.Object{Value: object}
	if group, _, _ := strings.Cut(o.Text("apiVersion"), "/"); group != fluxapi.KustomizeGroup && group != fluxapi.HelmGroup {
		return nil
	}
	var problems []schemas.Problem
	stalls := "is not a valid CEL expression, and stalls the " + o.Text("kind") + ": "
	check := func(wrong func(text, stalls string) string, hint string, path ...any) {
		text := o.Text(path...)
		if text == "" || strings.Contains(text, "${") {
			return
		}
		if why := wrong(text, stalls); why != "" {
			problems = append(problems, schemas.Problem{Kind: schemas.Invalid, Path: path, Hint: hint,
				Message: schemas.Field(path) + " " + why})
		}
	}
	for i := range o.List("spec", "healthCheckExprs") {
		for _, name := range []string{"inProgress", "failed", "current"} {
			check(unparsable, "", "spec", "healthCheckExprs", i, name)
		}
	}
	for i := range o.List("spec", "dependsOn") {
		check(uncompilable, "the variables are self, this "+o.Text("kind")+", and dep, the one that it depends on", "spec", "dependsOn", i, "readyExpr")
	}
	return problems
}

// unparsable returns the error in the expression of a health check, "" if there is none. The error begins with stalls if
// Flux cannot parse the expression.
func unparsable(text, stalls string) string {
	env, err := schemas.HealthEnv()
	if err != nil {
		return ""
	}
	parsed, issues := env.Parse(text)
	if why := firstIssue(issues); why != "" {
		return stalls + why
	}
	if name := unknownFunction(env, parsed); name != "" {
		return "calls the function " + name + ", which Flux's CEL does not have: the health check fails"
	}
	return ""
}

// unknownFunction returns the name of a function that an expression calls and that does not exist; "" if there is none. Flux only
// parses the expression, and fails when it evaluates the call.
// Source: github.com/fluxcd/pkg/runtime, cel/status_evaluator.go (NewStatusEvaluator, Evaluate).
func unknownFunction(env *cel.Env, parsed *cel.Ast) string {
	unknown := ""
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		name := call.FunctionName()
		known := env.HasFunction(name)
		if call.IsMemberFunction() && call.Target().Kind() == ast.IdentKind {
			known = known || env.HasFunction(call.Target().AsIdent()+"."+name) // such as base64.encode
		}
		if !known && unknown == "" {
			unknown = name
		}
	}))
	return unknown
}

// uncompilable returns the error in a readyExpr of a dependency, "" if there is none. The error begins with stalls.
func uncompilable(text, stalls string) string {
	env, err := schemas.ReadyEnv()
	if err != nil {
		return ""
	}
	compiled, issues := env.Compile(text)
	if why := firstIssue(issues); why != "" {
		return stalls + why
	}
	if is := compiled.OutputType(); is != types.BoolType {
		return fmt.Sprintf("%sits type is %s, and must be bool", stalls, is)
	}
	return ""
}

func firstIssue(issues *cel.Issues) string {
	if issues == nil || len(issues.Errors()) == 0 {
		return ""
	}
	first := issues.Errors()[0]
	return fmt.Sprintf("character %d: %s", first.Location.Column()+1, first.Message)
}
