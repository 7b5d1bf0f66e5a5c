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
// or HelmRelease that Flux does not compile: it stalls before it builds anything. A text that is substituted may be one.
// Source: github.com/fluxcd/kustomize-controller v1.9, internal/controller/kustomization_controller.go
// (Reconcile, evalReadyExpr), and helm-controller v1.6, helmrelease_controller.go.
func expressionProblems(object map[string]any) []schemas.Problem {
	o := reconcile.Object{Value: object}
	if group, _, _ := strings.Cut(o.Text("apiVersion"), "/"); group != fluxapi.KustomizeGroup && group != fluxapi.HelmGroup {
		return nil
	}
	var problems []schemas.Problem
	check := func(wrong func(string) string, hint string, path ...any) {
		text := o.Text(path...)
		if text == "" || strings.Contains(text, "${") {
			return
		}
		if why := wrong(text); why != "" {
			problems = append(problems, schemas.Problem{Kind: schemas.Invalid, Path: path, Hint: hint,
				Message: fmt.Sprintf("%s is not a valid CEL expression, and stalls the %s: %s", schemas.Field(path), o.Text("kind"), why)})
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

// unparsable returns why the expression of a health check cannot be parsed or evaluated, "" if it can.
func unparsable(text string) string {
	env, err := schemas.HealthEnv()
	if err != nil {
		return ""
	}
	parsed, issues := env.Parse(text)
	if why := firstIssue(issues); why != "" {
		return why
	}
	return unknownFunction(env, parsed)
}

// unknownFunction returns a message about a function that an expression calls and that does not exist; "" if there is none.
// Flux only fails when it evaluates the call: then the object never becomes ready.
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
			unknown = fmt.Sprintf("there is no function %s with these arguments", name)
		}
	}))
	return unknown
}

// uncompilable returns why an expression is not one of a dependency that is ready, "" if it is.
func uncompilable(text string) string {
	env, err := schemas.ReadyEnv()
	if err != nil {
		return ""
	}
	compiled, issues := env.Compile(text)
	if why := firstIssue(issues); why != "" {
		return why
	}
	if is := compiled.OutputType(); is != types.BoolType {
		return fmt.Sprintf("its type is %s, and must be bool", is)
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
