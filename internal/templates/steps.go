package templates

import (
	"fmt"
	"reflect"
)

const (
	maxSteps        = 1_000_000
	stepsOfTemplate = 100 // an included template takes as long as about a hundred repetitions of a loop
)

var errRepeated = Exceeded(fmt.Sprintf("the template repeats its parts more than %d times", maxSteps))

// steps counts the repetitions of an evaluation: of loops, and of templates that others include.
type steps int

func (s *steps) add(n int) error {
	if *s += steps(n); *s > maxSteps {
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
