package templates

import (
	"fmt"
	"text/template"

	"github.com/fleetwright/fleetwright/internal/located"
)

// unknownOf returns the unknown value of a string that consists only of marks.
func (r *rendering) unknownOf(v any) (located.Unknown, bool) {
	if s, ok := v.(string); ok && onlyMarks(s) {
		return r.Marked(s)
	}
	return located.Unknown{}, false
}

// condition returns the outcome of a mark as a condition; it returns an error if that is unknown.
func (r *rendering) condition(v any) (any, error) {
	m, bad := r.unknownOf(v)
	if !bad {
		return v, nil
	}
	switch holds, known := r.holds(m); {
	case !known:
		return nil, fmt.Errorf("%w: %s", ErrUndecided, m.Reason)
	case !holds:
		return false, nil
	}
	return v, nil
}

// either returns an operand of "or". It returns false for a mark that is assumed to be false, and any other operand
// unchanged.
func (r *rendering) either(v any) any {
	if m, bad := r.unknownOf(v); bad {
		if holds, known := r.holds(m); known && !holds {
			return false
		}
	}
	return v
}

func (r *rendering) not(v any) any {
	if m, bad := r.unknownOf(v); bad {
		if holds, known := r.holds(m); known {
			return !holds
		}
		return r.Mark(negated(m))
	}
	return !truth(v)
}

// ternary returns one of two values, depending on a condition.
func (r *rendering) ternary(yes, no, condition any) (any, error) {
	if m, bad := r.unknownOf(condition); bad {
		holds, known := r.holds(m)
		if !known {
			return r.derived(m, "ternary", yes, no), nil
		}
		condition = holds
	}
	holds, is := condition.(bool)
	if !is {
		return nil, fmt.Errorf("wrong type for value; expected bool; got %T", condition)
	}
	if holds {
		return yes, nil
	}
	return no, nil
}

func truth(v any) bool {
	t, _ := template.IsTrue(v)
	return t
}
