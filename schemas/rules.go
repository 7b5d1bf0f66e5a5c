package schemas

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/internal/count"
)

// The limits of rules in CEL, in the API server's cost units: it reckons a
// million of them to take 0.1 s (k8s.io/apiserver, pkg/apis/cel/config.go), a slow
// machine needs three times as long. Flux's own rules cost 4 for a HelmRelease.
const (
	// objectCost is what the rules may cost for one object; the API server allows
	// 10,000,000.
	objectCost = 300_000
	// runCost is what the rules of definitions that aren't our own may cost for
	// all objects of a run.
	runCost = 2_000_000
	// mostRules of one definition are compiled.
	mostRules = 1_000
)

// Budget bounds what anybody's definitions cost for all objects of a run. It is safe
// for concurrent use. Once it is exhausted, what the rules of such definitions said
// must be dropped, whichever object came first: so that the same objects give the
// same answers. The same holds for all that they said once it is overstrained.
type Budget struct {
	spent, effort, names atomic.Int64
	// refused are the schemas whose rules aren't compiled.
	refused map[*Schema]bool
}

// Overstrained says whether judging objects by the schemas takes longer than is
// allowed.
func (b *Budget) Overstrained() bool { return b != nil && b.effort.Load() > runEffort }

// mostNames are the names that are compared with misspelt ones in a run, after which
// findings have no such hint.
const mostNames = 1_000_000

// suggest names the field that was meant, or those that there are, as a hint; meant is "" where
// none comes near.
func (b *Budget) suggest(name string, fields func() []string) (hint, meant string) {
	if b != nil && b.names.Load() > mostNames {
		return "", ""
	}
	names := fields()
	if b != nil {
		b.names.Add(int64(len(names)))
	}
	return suggest(name, names)
}

// Exhausted says whether the rules cost more than is allowed.
func (b *Budget) Exhausted() bool { return b != nil && b.spent.Load() > runCost }

// Foreign says whether the schema is none of the embedded ones.
func (s *Schema) Foreign() bool { return s.foreign }

func (b *Budget) spend(cost int64) {
	if b != nil {
		b.spent.Add(cost)
	}
}

// rules are the compiled rules of a schema.
type rules struct {
	validator *cel.Validator
	err       error
}

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

// compileRules prepares the rules of a schema on first use.
func compileRules(s *structural.Structural, count int) func() rules {
	return sync.OnceValue(func() (r rules) {
		defer func() {
			if v := recover(); v != nil {
				r = rules{err: fmt.Errorf("the rules cannot be compiled: %v", v)}
			}
		}()
		if count > mostRules {
			return rules{err: fmt.Errorf("there are %d rules, and at most %d are checked", count, mostRules)}
		}
		return rules{validator: cel.NewValidator(s, true, objectCost)}
	})
}

// violations evaluates the rules of a kind on an object that has its defaults.
func (s *Schema) violations(object, clean map[string]any, opts Options) []Problem {
	if s.ruleCount == 0 {
		return nil
	}
	budget := opts.Budget
	if !s.foreign {
		budget = nil
	}
	if budget.Exhausted() {
		return nil
	}
	if why := s.tooCostly(budget); why != "" {
		return s.unchecked(why)
	}
	reads, err := s.calls()
	if err == nil {
		err = reads.Check(clean, &count.Steps{})
	}
	if err != nil {
		refused := s.unchecked(err.Error())
		refused[0].Kind = Violation
		return refused
	}
	compiled := s.rules()
	if compiled.err != nil {
		return s.unchecked(compiled.err.Error())
	}
	errs, left := compiled.validator.Validate(context.Background(), nil, s.structure, clean, nil, objectCost)
	budget.spend(objectCost - max(left, 0))
	found := make([]Problem, 0, len(errs))
	for _, err := range errs {
		found = append(found, s.violation(object, clean, err, opts))
	}
	return found
}

// tooCostly says why the rules of a schema are not even compiled, "" when they are.
func (s *Schema) tooCostly(budget *Budget) string {
	switch {
	case !s.foreign:
		return ""
	case s.compileTime() > mostCompile:
		return "it takes too long to compile them"
	case budget != nil && budget.refused[s]:
		return "those of the repository's definitions cost too much together"
	}
	return ""
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
	case err.Type == field.ErrorTypeInternal, strings.Contains(detail, "cost budget"), strings.Contains(detail, "cost exceeds limit"):
		p.Kind = Unresolved
		p.Message = name + ": the rules of " + s.GVK.Kind + " cost too much to be checked here"
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

// nodeAt is the schema of the value at a path.
func nodeAt(s *structural.Structural, path []any) *structural.Structural {
	for _, step := range path {
		if s == nil {
			return nil
		}
		switch step := step.(type) {
		case int:
			s = s.Items
		case string:
			if p, ok := s.Properties[step]; ok {
				s = &p
			} else if s.AdditionalProperties != nil {
				s = s.AdditionalProperties.Structural
			} else {
				return nil
			}
		}
	}
	return s
}
