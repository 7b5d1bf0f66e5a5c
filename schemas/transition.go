package schemas

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Transition returns the problems for which an update of an object would be refused, but not its creation: violations of
// the kind's rules about the old and the new object, such as an immutable field. Both objects get their defaults first,
// as on the API server; the arguments are not changed. Rules that cannot be evaluated, or that read a substituted value,
// are skipped.
func (s *Schema) Transition(old, object map[string]any) []Problem {
	if s.ruleCount == 0 || s.kustomize || s.plain != nil {
		return nil
	}
	compiled := s.rules()
	if compiled.err != nil {
		return nil
	}
	before, after := s.copy(old), s.copy(object)
	defaulting.Default(before, s.structure)
	defaulting.Default(after, s.structure)
	evaluate := func(was any) field.ErrorList {
		errs, _ := compiled.validator.Validate(context.Background(), nil, s.structure, after, was, limits.CELCost)
		return errs
	}
	alone := map[string]bool{}
	for _, err := range evaluate(nil) {
		alone[err.Field+"\x00"+err.Detail] = true
	}
	var found []Problem
	for _, err := range evaluate(before) {
		if alone[err.Field+"\x00"+err.Detail] {
			continue
		}
		if p := s.violation(object, after, err, Options{}); p.Kind == Violation {
			found = append(found, p)
		}
	}
	return sorted(found, Options{})
}
