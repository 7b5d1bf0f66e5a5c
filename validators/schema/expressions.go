package schema

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// expressionProblems are the expressions in spec.healthCheckExprs of a Kustomization or HelmRelease
// that Flux cannot parse: it stalls before it builds anything. A text that is substituted may be one.
// Source: github.com/fluxcd/kustomize-controller v1.9, internal/controller/kustomization_controller.go
// (Reconcile), and helm-controller v1.6, helmrelease_controller.go.
func expressionProblems(object map[string]any) []schemas.Problem {
	o := reconcile.Object{Value: object}
	if group, _, _ := strings.Cut(o.Text("apiVersion"), "/"); group != fluxapi.KustomizeGroup && group != fluxapi.HelmGroup {
		return nil
	}
	checks, _ := o.Field("spec", "healthCheckExprs").([]any)
	var problems []schemas.Problem
	for i := range checks {
		for _, name := range []string{"inProgress", "failed", "current"} {
			path := []any{"spec", "healthCheckExprs", i, name}
			text := o.Text(path...)
			if text == "" || strings.Contains(text, "${") {
				continue
			}
			if why := unparsable(text); why != "" {
				problems = append(problems, schemas.Problem{Kind: schemas.Invalid, Path: path,
					Message: fmt.Sprintf("%s is not a valid CEL expression, and stalls the %s: %s", schemas.Field(path), o.Text("kind"), why)})
			}
		}
	}
	return problems
}

// unparsable is why a text is no expression, "" for one.
func unparsable(text string) string {
	env, err := schemas.HealthEnv()
	if err != nil {
		return ""
	}
	_, issues := env.Parse(text)
	if issues == nil || len(issues.Errors()) == 0 {
		return ""
	}
	first := issues.Errors()[0]
	return fmt.Sprintf("character %d: %s", first.Location.Column()+1, first.Message)
}
