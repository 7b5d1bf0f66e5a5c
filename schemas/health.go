package schemas

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// HealthEnv is the environment in which Flux parses and evaluates the expressions of health checks. It has no types, so
// it cannot check them. The variables are the fields of the object, such as apiVersion.
// Source: github.com/fluxcd/pkg/runtime v0.110, cel/expression.go (NewExpression).
var HealthEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders())
})

// ReadyEnv is the environment in which Flux compiles spec.dependsOn[].readyExpr.
// Source: github.com/fluxcd/kustomize-controller v1.9, internal/controller/kustomization_controller.go (evalReadyExpr).
var ReadyEnv = sync.OnceValues(func() (*cel.Env, error) {
	env, err := HealthEnv()
	if err != nil {
		return nil, err
	}
	object := cel.ObjectType("google.protobuf.Struct")
	return env.Extend(cel.Variable("self", object), cel.Variable("dep", object))
})
