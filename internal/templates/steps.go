package templates

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

const stepsOfTemplate = 100 // an included template takes as long as about a hundred repetitions of a loop

var (
	errRepeated = Exceeded(fmt.Sprintf("the template repeats its parts more than %d times", limits.Repetitions))
	errElements = Exceeded(fmt.Sprintf("the template passes more than %d elements of lists and maps to functions", limits.Elements))
)

// steps counts the repetitions of an evaluation: of loops, and of templates that others include.
type steps int

// pairwise are the functions that compare each element of a list with each other one, or with each other argument.
var pairwise = []string{"uniq", "mustUniq", "without", "mustWithout"}

// take counts the elements of a function's arguments: a list that contains another one twice has few values and many
// elements.
func (r *rendering) take(name string, args []reflect.Value) error {
	for _, arg := range args {
		own, deep := count.Elements(arg, limits.Elements-r.elements)
		if deep {
			return errTooDeep
		}
		if slices.Contains(pairwise, name) {
			own += own * own
		}
		if r.elements += own; r.elements > limits.Elements {
			return errElements
		}
	}
	return nil
}

func (s *steps) add(n int) error {
	if n > limits.Repetitions-int(*s) {
		return errRepeated
	}
	*s += steps(n)
	return nil
}

// iterations returns how often a range over a value repeats its body.
func iterations(v any) int {
	switch over := reflect.ValueOf(v); {
	case over.CanInt():
		return int(max(0, over.Int()))
	case over.CanUint():
		return int(min(over.Uint(), limits.Repetitions+1))
	case over.Kind() == reflect.Slice, over.Kind() == reflect.Array, over.Kind() == reflect.Map:
		return over.Len()
	}
	return 0
}
