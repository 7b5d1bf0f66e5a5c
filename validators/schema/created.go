package schema

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/apiserver"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// mostRefused is the maximum number of errors of the API server's code that are reported for an object; further ones
// usually have the same cause.
const mostRefused = 10

// admitted holds the values of objects that the API server's code admits, by identity. The values live as long as the
// fleet and never change.
type admitted struct{ known sync.Map }

func (a *admitted) knows(object map[string]any) bool {
	_, is := a.known.Load(reflect.ValueOf(object).Pointer())
	return is
}

func (a *admitted) add(object map[string]any) {
	a.known.Store(reflect.ValueOf(object).Pointer(), true)
}

// created returns the set of admitted objects for an object that is created as it is, otherwise nil. It returns an empty
// set for a value that is not the fleet's own.
func (w work) created(c checked, object map[string]any) *admitted {
	switch {
	case c.built == nil:
		return nil
	case reflect.ValueOf(c.built.Value).Pointer() != reflect.ValueOf(object).Pointer():
		return &admitted{}
	}
	return w.admitted
}

// createdProblems returns the errors that the API server's code finds when an object is created.
func createdProblems(object map[string]any, opts schemas.Options) []schemas.Problem {
	o := reconcile.Object{Value: object}
	if !apiserver.Judges(schema.FromAPIVersionAndKind(o.Text("apiVersion"), o.Text("kind"))) {
		return nil
	}
	return schemas.Refused(object, apiserver.Validate(object), opts)
}

// unexplained returns the first problems that other problems do not explain. A problem at the same place as another one,
// around it or below it is not repeated, and neither is a missing field that is misspelt.
func unexplained(problems, others []schemas.Problem) []schemas.Problem {
	problems = slices.DeleteFunc(problems, func(p schemas.Problem) bool {
		return slices.ContainsFunc(others, func(known schemas.Problem) bool { return explains(known, p) })
	})
	more := len(problems) - mostRefused
	if more <= 0 {
		return problems
	}
	problems = slices.Clone(problems[:mostRefused])
	problems[mostRefused-1].Message += fmt.Sprintf(" (and %d more of the object)", more)
	return problems
}

// explains reports whether a known problem explains another one.
func explains(known, p schemas.Problem) bool {
	shared := min(len(known.Path), len(p.Path))
	if slices.Equal(known.Path[:shared], p.Path[:shared]) {
		return shared > 0
	}
	return known.Kind == schemas.UnknownField && p.Required && len(known.Path) == len(p.Path) &&
		slices.Equal(known.Path[:shared-1], p.Path[:shared-1])
}

// mostUnboundedValues is the maximum number of values of an object that is validated without a bound on the work: the API
// server's code compares each item of some lists with all others.
const mostUnboundedValues = 20_000

// isLarge reports whether an object has more values than mostUnboundedValues.
func isLarge(object map[string]any) bool {
	left := mostUnboundedValues
	var count func(value any)
	count = func(value any) {
		if left--; left < 0 {
			return
		}
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				count(item)
			}
		case map[string]any:
			for _, item := range value {
				count(item)
			}
		}
	}
	count(object)
	return left < 0
}
