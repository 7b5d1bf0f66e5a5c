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

// mostRefused is how many errors of the API server's code are reported of an object; the others have their cause in
// common.
const mostRefused = 10

// admitted are values of objects by their identity: they live as long as the fleet, which nobody changes.
type admitted struct{ known sync.Map }

func (a *admitted) knows(object map[string]any) bool {
	_, is := a.known.Load(reflect.ValueOf(object).Pointer())
	return is
}

func (a *admitted) add(object map[string]any) {
	a.known.Store(reflect.ValueOf(object).Pointer(), true)
}

// created are the objects that are known to be admitted, where one is created as it is; else nil. A value that is not the
// fleet's own is known to nobody else.
func (w work) created(c checked, object map[string]any) *admitted {
	switch {
	case c.built == nil:
		return nil
	case reflect.ValueOf(c.built.Value).Pointer() != reflect.ValueOf(object).Pointer():
		return &admitted{}
	}
	return w.admitted
}

// createdProblems are what the API server's code refuses of an object when it is created.
func createdProblems(object map[string]any, opts schemas.Options) []schemas.Problem {
	o := reconcile.Object{Value: object}
	if !apiserver.Judges(schema.FromAPIVersionAndKind(o.Text("apiVersion"), o.Text("kind"))) {
		return nil
	}
	return schemas.Refused(object, apiserver.Validate(object), opts)
}

// unexplained are the first of some problems that others do not explain: what these found at the same place, around it or
// below it is not repeated, nor what is missing since its field is misspelt.
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

// explains says whether a problem tells of another one, too.
func explains(known, p schemas.Problem) bool {
	shared := min(len(known.Path), len(p.Path))
	if slices.Equal(known.Path[:shared], p.Path[:shared]) {
		return shared > 0
	}
	return known.Kind == schemas.UnknownField && p.Required && len(known.Path) == len(p.Path) &&
		slices.Equal(known.Path[:shared-1], p.Path[:shared-1])
}

// mostPlain is how many values an object may hold to be judged without a bound: the API server's code compares some
// lists with themselves.
const mostPlain = 20_000

// isLarge says whether an object holds more values than that.
func isLarge(object map[string]any) bool {
	left := mostPlain
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
