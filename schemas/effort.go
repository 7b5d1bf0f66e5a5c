package schemas

import (
	"fmt"
	"regexp/syntax"
	"sync"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// What anybody's definition may make of judging an object, in microseconds: a value is compared
// with each alternative, each value that is allowed, and a pattern; and each item of a list gets
// its defaults. It is estimated before the API server's code does it, which cannot be stopped.
const (
	objectEffort = 300_000   // for one object
	runEffort    = 1_500_000 // for all objects of a run

	effortAlternative = 2    // a value and an alternative
	effortAllowed     = 0.05 // a value and one that is allowed
	effortPattern     = 0.02 // a byte of a text and an instruction of a pattern
	effortDefault     = 0.5  // a field that is given its default
)

// effort estimates what judging objects by a schema takes.
type effort struct {
	structure *structural.Structural
	patterns  sync.Map // pattern → the number of its instructions
}

// of says what an object takes, or any more than objectEffort.
func (e *effort) of(object map[string]any) float64 {
	w := effortWalk{effort: e}
	w.value(e.structure, object)
	return w.sum
}

type effortWalk struct {
	*effort
	sum float64
}

// value adds what a value takes, and what is in it.
func (w *effortWalk) value(s *structural.Structural, value any) {
	if s == nil || w.sum > objectEffort {
		return
	}
	w.validation(s.ValueValidation, value)
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if p, ok := s.Properties[name]; ok {
				w.value(&p, item)
			} else if s.AdditionalProperties != nil {
				w.value(s.AdditionalProperties.Structural, item)
			}
		}
		for name, p := range s.Properties {
			if _, given := value[name]; !given && p.Default.Object != nil {
				w.sum += effortDefault
				w.value(&p, p.Default.Object)
			}
		}
	case []any:
		for _, item := range value {
			w.value(s.Items, item)
		}
	}
}

// validation adds what one value takes.
func (w *effortWalk) validation(v *structural.ValueValidation, value any) {
	if v == nil {
		return
	}
	w.sum += effortAllowed * float64(len(v.Enum))
	if text, ok := value.(string); ok && v.Pattern != "" {
		w.sum += effortPattern * float64(w.instructions(v.Pattern)) * float64(len(text))
	}
	for _, alternatives := range [][]structural.NestedValueValidation{v.AllOf, v.AnyOf, v.OneOf} {
		for i := range alternatives {
			w.nested(&alternatives[i], value)
		}
	}
	if v.Not != nil {
		w.nested(v.Not, value)
	}
}

// nested adds an alternative.
func (w *effortWalk) nested(n *structural.NestedValueValidation, value any) {
	if w.sum += effortAlternative; n == nil || w.sum > objectEffort {
		return
	}
	w.validation(&n.ValueValidation, value)
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if p, ok := n.Properties[name]; ok {
				w.nested(&p, item)
			} else if n.AdditionalProperties != nil {
				w.nested(n.AdditionalProperties, item)
			}
		}
	case []any:
		for _, item := range value {
			if n.Items != nil {
				w.nested(n.Items, item)
			}
		}
	}
}

// instructions is how many a regular expression is compiled to.
func (e *effort) instructions(pattern string) int {
	if known, ok := e.patterns.Load(pattern); ok {
		return known.(int)
	}
	n := 0
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			n = len(program.Inst)
		}
	}
	e.patterns.Store(pattern, n)
	return n
}

// overstrains says that an object is not judged by anybody's definition, since that would take too
// long; nil where it is.
func (s *Schema) overstrains(object map[string]any, b *Budget) []Problem {
	if s.effort == nil {
		return nil
	}
	if !b.Overstrained() {
		effort := s.effort.of(object)
		if b != nil {
			b.effort.Add(int64(effort))
		}
		if effort <= objectEffort {
			return nil
		}
	}
	return []Problem{{Kind: Unresolved, Message: fmt.Sprintf("whether the schema of %s holds costs too much to be checked", s.GVK.Kind)}}
}
