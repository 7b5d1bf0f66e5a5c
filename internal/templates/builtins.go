package templates

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// The comparisons, len and index of text/template, which doesn't export them: these must not
// compare a mark.

var (
	errNotComparable = errors.New("incompatible types for comparison")
	errNoOrder       = errors.New("invalid type for comparison")
)

// equalAny is the function eq. If the result depends on a mark, it is a mark, unless the text around the mark
// already differs.
func (r *rendering) equalAny(a, b any, more ...any) (any, error) {
	var unknown *located.Unknown
	for _, other := range append([]any{b}, more...) {
		if m := r.undecidedEqual(a, other); m != nil {
			unknown = m
			continue
		}
		if hasMark(a) || hasMark(other) {
			continue
		}
		if same, err := equal(a, other); same || err != nil {
			return same, err
		}
	}
	if unknown != nil {
		return r.derived(*unknown, "eq", append([]any{a, b}, more...)...), nil
	}
	return false, nil
}

func (r *rendering) unequal(a, b any) (any, error) {
	same, err := r.equalAny(a, b)
	if is, ok := same.(bool); ok {
		return !is, err
	}
	if m, bad := r.unknownOf(same); bad && err == nil {
		return r.Mark(negated(m)), nil
	}
	return same, err
}

// undecidedEqual returns the mark because of which it is unknown whether two values are equal, nil
// if it is known.
func (r *rendering) undecidedEqual(a, b any) *located.Unknown {
	if !hasMark(a) {
		a, b = b, a
	}
	s, ok := a.(string)
	if !ok || !hasMark(a) {
		return nil
	}
	m, _ := r.Marked(s)
	other, isText := b.(string)
	if !isText || hasMark(b) {
		return &m
	}
	parts := anyMark.Split(s, -1)
	if len(parts[0])+len(parts[len(parts)-1]) > len(other) || !strings.HasPrefix(other, parts[0]) ||
		!strings.HasSuffix(other, parts[len(parts)-1]) {
		return nil
	}
	return &m
}

func equal(a, b any) (bool, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if !x.IsValid() || !y.IsValid() {
		return x.IsValid() == y.IsValid(), nil
	}
	if numeric(x) && numeric(y) && x.CanFloat() == y.CanFloat() {
		c, err := order(a, b)
		return c == 0, err
	}
	if x.Kind() != y.Kind() {
		return false, errNotComparable
	}
	if !x.Comparable() || !y.Comparable() {
		return false, fmt.Errorf("%w: %s", errNotComparable, x.Type())
	}
	return a == b, nil
}

func numeric(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }

func order(a, b any) (int, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case !x.IsValid() || !y.IsValid():
		return 0, errNoOrder
	case x.Kind() == reflect.String && y.Kind() == reflect.String:
		return cmp.Compare(x.String(), y.String()), nil
	case x.CanFloat() && y.CanFloat():
		return cmp.Compare(x.Float(), y.Float()), nil
	case x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int()), nil
	case x.CanUint() && y.CanUint():
		return cmp.Compare(x.Uint(), y.Uint()), nil
	case x.CanInt() && y.CanUint():
		if x.Int() < 0 {
			return -1, nil
		}
		return cmp.Compare(uint64(x.Int()), y.Uint()), nil
	case x.CanUint() && y.CanInt():
		c, err := order(b, a)
		return -c, err
	case numeric(x) && numeric(y):
		return 0, errNotComparable
	}
	return 0, errNoOrder
}

func lengthOf(v any) (int, error) {
	x := reflect.ValueOf(v)
	switch x.Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map:
		return x.Len(), nil
	}
	return 0, fmt.Errorf("len of type %T", v)
}

func index(v any, keys ...any) (any, error) {
	at := reflect.ValueOf(v)
	for _, key := range keys {
		k := reflect.ValueOf(key)
		switch at.Kind() {
		case reflect.Map:
			if !k.IsValid() || !k.Type().AssignableTo(at.Type().Key()) {
				return nil, fmt.Errorf("a map has no key of type %T", key)
			}
			// A missing key has the zero value here, whatever missingkey is.
			found := at.MapIndex(k)
			if !found.IsValid() {
				found = reflect.Zero(at.Type().Elem())
			}
			at = found
		case reflect.Slice, reflect.Array, reflect.String:
			if !k.CanInt() || k.Int() < 0 || k.Int() >= int64(at.Len()) {
				return nil, fmt.Errorf("index %v is out of range", key)
			}
			at = at.Index(int(k.Int()))
		default:
			return nil, errors.New("index of a value that is neither a list nor a map")
		}
		if at.Kind() == reflect.Interface {
			at = at.Elem()
		}
	}
	if !at.IsValid() {
		return nil, nil
	}
	return at.Interface(), nil
}
