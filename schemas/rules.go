package schemas

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/count/calls"
)

// objectCost is what the rules in CEL may cost for one object, in the API server's cost units: it
// reckons a million of them to take 0.1 s, and allows 10,000,000
// (k8s.io/apiserver, pkg/apis/cel/config.go). Flux's own rules cost 4 for a HelmRelease.
const objectCost = 300_000

// Foreign says whether the schema is none of the embedded ones.
func (s *Schema) Foreign() bool { return s.foreign }

// countRules counts the rules in a schema.
func countRules(s *structural.Structural) int {
	count := 0
	visitor := structural.Visitor{
		Structural: func(s *structural.Structural) bool {
			count += len(s.XValidations)
			return false
		},
		NestedValueValidation: func(v *structural.NestedValueValidation) bool {
			count += len(v.XValidations)
			return false
		},
	}
	visitor.Visit(s)
	return count
}

// Prepare compiles the rules of the schema. Those of a foreign one are a unit of work: it must not
// be called within another unit, nor must an object be judged there by a schema that is not prepared.
func (s *Schema) Prepare() {
	if s.ruleCount > 0 {
		s.rules()
	}
}

// compileRules compiles the rules of a schema.
func (s *Schema) compileRules() (r rules) {
	work := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("the rules cannot be compiled: %v", v)
			}
		}()
		r.validator = cel.NewValidator(s.structure, true, objectCost)
		return nil
	}
	if !s.foreign {
		r.err = work()
		return r
	}
	name := s.GVK.GroupVersion().String() + " " + s.GVK.Kind
	r.err = bounds.Do(bounds.Unit{Kind: "schema", File: s.origin.file, Line: s.origin.line, Name: name}, work)
	return r
}

// violations evaluates the rules of a kind on an object that has its defaults.
func (s *Schema) violations(object, clean map[string]any, opts Options) []Problem {
	if s.ruleCount == 0 {
		return nil
	}
	reads, err := s.calls()
	if err == nil {
		err = reads.Check(clean, &count.Steps{})
	}
	if err != nil && !errors.Is(err, calls.ErrComposed) {
		return []Problem{{Kind: Exceeded, Message: fmt.Sprintf("the rules of %s: %v", s.GVK.Kind, err)}}
	}
	compiled := s.rules()
	var measured *bounds.Error
	switch {
	case errors.As(compiled.err, &measured):
		return nil // bounds.Exceeded names the schema
	case compiled.err != nil:
		return s.unchecked(compiled.err.Error())
	}
	errs, _ := compiled.validator.Validate(context.Background(), nil, s.structure, clean, nil, objectCost)
	found := make([]Problem, 0, len(errs))
	for _, err := range errs {
		found = append(found, s.violation(object, clean, err, opts))
	}
	return found
}

// unchecked says that none of the rules is checked.
func (s *Schema) unchecked(why string) []Problem {
	return []Problem{{Kind: Unresolved, Rule: true, Message: "the rules of " + s.GVK.Kind + " are not checked: " + why}}
}

// violation describes the failure of a rule.
func (s *Schema) violation(object, clean map[string]any, err *field.Error, opts Options) Problem {
	path := pathOf(object, fieldName(err))
	name := Field(path)
	if name == "" {
		name = "the object"
	}
	detail := err.Detail
	if detail == "" {
		detail = "breaks a rule of the kind"
	}
	p := Problem{Kind: Violation, Rule: true, Path: path, Message: name + ": " + detail}
	if len(path) > 0 && strings.HasPrefix(detail, name) {
		p.Message = detail // such as: spec.url must be set
	}
	switch {
	case strings.Contains(detail, "cost budget"), strings.Contains(detail, "cost exceeds limit"):
		return Problem{Kind: Exceeded, Message: fmt.Sprintf("the rules of %s cost more than %d", s.GVK.Kind, objectCost)}
	case err.Type == field.ErrorTypeInternal:
		p.Kind = Unresolved
		p.Message = name + ": the rules of " + s.GVK.Kind + " cannot be evaluated here"
		return p
	case strings.HasPrefix(detail, "rule compile error:"), strings.HasPrefix(detail, "rule compiler initialization error:"):
		p.Kind = Unresolved
		p.Message = name + ": a rule of " + s.GVK.Kind + " cannot be compiled by this version"
		return p
	}
	node, candidates := s.broken(path, detail)
	value := valueAt(clean, node)
	if unknown(value, candidates, opts.Literal) {
		p.Kind = Unresolved
		p.Message = fmt.Sprintf("%s: whether %q holds depends on what Flux substitutes or decrypts", name, detail)
		return p
	}
	if len(candidates) == 1 && !strings.Contains(detail, strings.TrimSpace(candidates[0].Rule)) {
		p.Hint = "the rule is " + shorten(strings.Join(strings.Fields(candidates[0].Rule), " "))
	}
	return p
}

func shorten(text string) string {
	const longest = 200
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

// broken finds the rules that may have given an error's detail: those of the
// value at the error's path, or of one that it is in, where the rule names the
// field itself (fieldPath).
func (s *Schema) broken(path []any, detail string) (at []any, found []apiextensionsv1.ValidationRule) {
	for end := len(path); end >= 0; end-- {
		node := nodeAt(s.structure, path[:end])
		if node == nil {
			continue
		}
		for _, r := range node.XValidations {
			if gives(r, detail) && (end == len(path) || r.FieldPath != "") {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return path[:end], found
		}
	}
	return path, nil
}

// gives says whether a rule's failure may be told in these words.
func gives(r apiextensionsv1.ValidationRule, detail string) bool {
	message, rule := strings.TrimSpace(r.Message), strings.TrimSpace(r.Rule)
	return r.MessageExpression != "" || message != "" && strings.HasSuffix(detail, message) ||
		message == "" && strings.HasSuffix(detail, rule)
}
