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

// condition returns a value that decides a condition; it returns an error if that is unknown.
func (r *rendering) condition(v any) (any, error) {
	if m, bad := r.unknownOf(v); bad {
		return nil, fmt.Errorf("%w: %s", ErrUndecided, m.Reason)
	}
	return v, nil
}

func (r *rendering) not(v any) any {
	if m, bad := r.unknownOf(v); bad {
		return r.derived(m)
	}
	is, _ := template.IsTrue(v)
	return !is
}

// ternary returns one of two values, depending on a condition.
func (r *rendering) ternary(yes, no, condition any) (any, error) {
	if m, bad := r.unknownOf(condition); bad {
		return r.derived(m), nil
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
