package schemas

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/count/calls"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// Foreign reports whether the schema is not one of the embedded ones.
func (s *Schema) Foreign() bool { return s.foreign }

// countRules returns the number of rules in a schema.
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

// Prepare compiles the rules of the schema. For a foreign schema this is a unit of work: Prepare must not
// be called within another unit, nor may an object be validated there by a schema that is not prepared.
func (s *Schema) Prepare() {
	if s.ruleCount > 0 {
		s.rules()
	}
}

// recentRules are the compiled rules of foreign schemas. A compiled rule takes some 50 kB, and a repository may
// define any number of kinds: only the most recently used rules are kept.
var recentRules struct {
	sync.Mutex
	compiled map[*Schema]func() rules
	order    []*Schema // the most recently used one is last
	count    int       // number of rules
}

// mostRules is the maximum number of compiled rules of foreign schemas that are kept. It may be exceeded by the schemas
// that all goroutines use at the same time.
const mostRules = 300

// rules returns the compiled rules of a schema.
func (s *Schema) rules() rules {
	if !s.foreign {
		return s.ownRules()
	}
	return s.recent()()
}

// recent returns the function that compiles the rules of a foreign schema once. It drops the rules of the least recently used
// schemas.
func (s *Schema) recent() func() rules {
	r := &recentRules
	r.Lock()
	defer r.Unlock()
	compiled := r.compiled[s]
	if compiled != nil {
		r.order = slices.DeleteFunc(r.order, func(other *Schema) bool { return other == s })
	} else {
		if r.compiled == nil {
			r.compiled = map[*Schema]func() rules{}
		}
		compiled = sync.OnceValue(s.compileRules)
		r.compiled[s] = compiled
		r.count += s.ruleCount
	}
	r.order = append(r.order, s)
	for r.count > mostRules && len(r.order) > 2*runtime.GOMAXPROCS(0) {
		r.count -= r.order[0].ruleCount
		delete(r.compiled, r.order[0])
		r.order = r.order[1:]
	}
	return compiled
}

// compileRules compiles the rules of a schema.
func (s *Schema) compileRules() (r rules) {
	work := func() (compiled *cel.Validator, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("the rules cannot be compiled: %v", v)
			}
		}()
		return cel.NewValidator(s.structure, true, limits.CELCost), nil
	}
	if !s.foreign {
		r.validator, r.err = work()
		return r
	}
	name := s.GVK.GroupVersion().String() + " " + s.GVK.Kind
	r.validator, r.err = bounds.Do(bounds.Unit{Kind: "schema", File: s.origin.file, Line: s.origin.line, Name: name}, work)
	return r
}

// violations evaluates the rules of a kind for an object with its defaults.
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
		return nil // bounds.Exceeded contains the schema
	case compiled.err != nil:
		return s.unchecked(compiled.err.Error())
	}
	errs, _ := compiled.validator.Validate(context.Background(), nil, s.structure, clean, nil, limits.CELCost)
	found := make([]Problem, 0, len(errs))
	for _, err := range errs {
		found = append(found, s.violation(object, clean, err, opts))
	}
	return found
}

// unchecked returns the problem that the rules are not checked.
func (s *Schema) unchecked(why string) []Problem {
	return []Problem{{Kind: Unresolved, Rule: true, Message: "the rules of " + s.GVK.Kind + " are not checked: " + why}}
}

// violation converts the failure of a rule to a problem.
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
		return Problem{Kind: Exceeded, Message: fmt.Sprintf("the rules of %s cost more than %d", s.GVK.Kind, limits.CELCost)}
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
		p.Message = fmt.Sprintf("%s: whether the rule %q is violated depends on values that Flux substitutes or decrypts", name, detail)
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

// broken returns the CEL rules that may have caused an error, by the error's path and detail (its message): rules of the
// value at the path, or rules of a value around it that name the field with fieldPath.
func (s *Schema) broken(path []any, detail string) (at []any, found []apiextensionsv1.ValidationRule) {
	for end := len(path); end >= 0; end-- {
		node := nodeAt(s.structure, path[:end])
		if node == nil {
			continue
		}
		for _, r := range node.XValidations {
			if mayReport(r, detail) && (end == len(path) || r.FieldPath != "") {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return path[:end], found
		}
	}
	return path, nil
}

// mayReport reports whether the error of a violated rule may have this detail: the rule's message, or the rule itself.
func mayReport(r apiextensionsv1.ValidationRule, detail string) bool {
	message, rule := strings.TrimSpace(r.Message), strings.TrimSpace(r.Rule)
	return r.MessageExpression != "" || message != "" && strings.HasSuffix(detail, message) ||
		message == "" && strings.HasSuffix(detail, rule)
}
