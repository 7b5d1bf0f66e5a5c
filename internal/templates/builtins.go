package templates

import (
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/fleetwright/fleetwright/internal/located"
)

// builtin returns a function of text/template, which doesn't export its comparisons, len and index: they must not
// see a mark.
func builtin(name string) func(args ...any) (any, error) {
	var result any
	take := template.FuncMap{"take": func(v any) string { result = v; return "" }}
	calls := map[int]*template.Template{} // by the number of arguments
	return func(args ...any) (any, error) {
		if calls[len(args)] == nil {
			var call strings.Builder
			for i := range args {
				fmt.Fprintf(&call, " (index . %d)", i)
			}
			calls[len(args)] = template.Must(template.New("").Funcs(take).Parse("{{ take (" + name + call.String() + ") }}"))
		}
		result = nil
		err := calls[len(args)].Execute(&strings.Builder{}, args)
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner // what the function says
		}
		return result, err
	}
}

var builtinEqual = builtin("eq")

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
		if same, err := builtinEqual(a, other); same == true || err != nil {
			return same, err
		}
	}
	if unknown != nil {
		return r.derived(*unknown), nil
	}
	return false, nil
}

func (r *rendering) unequal(a, b any) (any, error) {
	same, err := r.equalAny(a, b)
	if is, ok := same.(bool); ok {
		return !is, err
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
