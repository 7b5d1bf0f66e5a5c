package templates

import (
	"fmt"
	"github.com/fleetwright/fleetwright/internal/located"
	"text/template"
)

// openly says of a value that is nothing but a mark which one it is.
func (r *rendering) openly(v any) (located.Unknown, bool) {
	if s, ok := v.(string); ok && wholly(s) {
		return r.Marked(s)
	}
	return located.Unknown{}, false
}

// condition decides a mark, and fails where nobody can tell.
func (r *rendering) condition(v any) (any, error) {
	m, bad := r.openly(v)
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

// either decides a mark that or has another value for; it stays one where nobody can tell.
func (r *rendering) either(v any) any {
	if m, bad := r.openly(v); bad {
		if holds, known := r.holds(m); known && !holds {
			return false
		}
	}
	return v
}

func (r *rendering) not(v any) any {
	if m, bad := r.openly(v); bad {
		if holds, known := r.holds(m); known {
			return !holds
		}
		return r.Mark(negated(m))
	}
	return !truth(v)
}

// ternary chooses one of two values.
func (r *rendering) ternary(yes, no, condition any) (any, error) {
	if m, bad := r.openly(condition); bad {
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
