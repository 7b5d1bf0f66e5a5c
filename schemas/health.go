package schemas

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// HealthEnv is what Flux parses and evaluates the expressions of health checks with: it compiles
// none, since it knows no types. The variables are the fields of the object, from apiVersion on.
// Source: github.com/fluxcd/pkg/runtime v0.110, cel/expression.go (NewExpression).
var HealthEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders())
})
