package templates

import (
	"fmt"
	"reflect"

	"github.com/fleetwright/fleetwright/internal/limits"
)

const (
	stepsOfTemplate = 100 // an included template takes as long as about a hundred repetitions of a loop
)

var errRepeated = Exceeded(fmt.Sprintf("the template repeats its parts more than %d times", limits.Repetitions))

// steps counts the repetitions of an evaluation: of loops, and of templates that others include.
type steps int

var errElements = Exceeded(fmt.Sprintf("the template passes more than %d elements of lists and maps to functions", limits.Elements))

// take counts the elements of a function's arguments. A list that contains another one twice has few values and many elements.
func (r *rendering) take(args []reflect.Value) error {
	for _, arg := range args {
		r.takeAll(arg)
	}
	if r.elements > limits.Elements {
		return errElements
	}
	return nil
}

func (r *rendering) takeAll(v reflect.Value) {
	if r.elements++; r.elements > limits.Elements {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			r.takeAll(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.takeAll(v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			r.takeAll(it.Value())
		}
	}
}

func (s *steps) add(n int) error {
	if *s += steps(n); *s > limits.Repetitions {
		return errRepeated
	}
	return nil
}

// iterations returns how often a range over a value repeats its body.
func iterations(v any) int {
	switch over := reflect.ValueOf(v); {
	case over.CanInt():
		return int(max(0, over.Int()))
	case over.Kind() == reflect.Slice, over.Kind() == reflect.Array, over.Kind() == reflect.Map:
		return over.Len()
	}
	return 0
}
