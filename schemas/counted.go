package schemas

import (
	"errors"
	"fmt"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/count/calls"
	"github.com/fleetwright/fleetwright/internal/limits"
)

var errManyPatterns = count.Errorf("its patterns together compile to more than %d instructions", limits.PatternsTogether)

// countPatterns counts the instructions of a schema's patterns before they are compiled, and returns the size of the
// largest. Invalid patterns count as zero. The error is a *count.Error.
func countPatterns(s *structural.Structural) (largest int, err error) {
	total := 0
	pattern := func(v *structural.ValueValidation) {
		if v == nil || v.Pattern == "" || err != nil {
			return
		}
		size, wrong := count.Instructions(v.Pattern)
		if limit := (*count.Error)(nil); errors.As(wrong, &limit) {
			err = limit
		}
		largest = max(largest, size)
		if total += size; total > limits.PatternsTogether && err == nil {
			err = errManyPatterns
		}
	}
	visitor := structural.Visitor{
		Structural: func(s *structural.Structural) bool {
			pattern(s.ValueValidation)
			return false
		},
		NestedValueValidation: func(v *structural.NestedValueValidation) bool {
			pattern(&v.ValueValidation)
			return false
		},
	}
	visitor.Visit(s)
	return largest, err
}

// callsOf returns the arguments that a schema's rules pass to functions whose cost CEL does not bound.
func callsOf(s *structural.Structural) (*calls.Calls, error) {
	all, texts := &calls.Calls{}, []string{}
	visitor := structural.Visitor{Structural: func(s *structural.Structural) bool {
		for _, r := range s.XValidations {
			texts = append(texts, r.Rule, r.MessageExpression)
		}
		return false
	}}
	visitor.Visit(s)
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	for _, text := range texts {
		if !calls.Mentioned(text) {
			continue
		}
		if len(text) > limits.CELCharacters {
			return nil, count.Errorf("a rule has %d characters; the limit is %d", len(text), limits.CELCharacters)
		}
		parsed, issues := env.Parse(text)
		if issues != nil && issues.Err() != nil {
			continue // the compiler refuses the rule
		}
		if err := all.Add(parsed.NativeRep().Expr()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// matchesTooMuch returns a problem if matching the object's strings with the schema's patterns would require too many
// steps, so that the object is not checked; nil if it is within the limit.
func (s *Schema) matchesTooMuch(object map[string]any) []Problem {
	if !s.foreign || s.pattern <= calls.SmallPattern {
		return nil
	}
	err := new(count.Steps).Take(s.pattern, bytesOf(object))
	if err == nil {
		return nil
	}
	return []Problem{{Kind: Exceeded, Message: fmt.Sprintf("the schema of %s: %v", s.GVK.Kind, err)}}
}

// bytesOf returns the total length of all strings in a value.
func bytesOf(value any) int {
	sum := 0
	switch v := value.(type) {
	case string:
		return len(v)
	case []any:
		for _, item := range v {
			sum += bytesOf(item)
		}
	case map[string]any:
		for key, item := range v {
			sum += len(key) + bytesOf(item)
		}
	}
	return sum
}
