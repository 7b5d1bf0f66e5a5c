package templates

import (
	"maps"
	"reflect"
	"slices"
)

// LimitCalls sets low limits for loops, nested templates and changes of values. It is for fuzzing,
// where time and memory are not measured.
func (e *Engine) LimitCalls(left int) {
	functions := e.rendering.functions
	for _, name := range slices.Concat([]string{"include", "tpl", "untilStep"}, slices.Collect(maps.Keys(mutators))) {
		of := reflect.ValueOf(functions[name])
		functions[name] = reflect.MakeFunc(of.Type(), func(args []reflect.Value) []reflect.Value {
			if left--; left < 0 {
				panic("too many calls")
			}
			if of.Type().IsVariadic() {
				return of.CallSlice(args)
			}
			return of.Call(args)
		}).Interface()
	}
	loop := functions[loopFunction].(func(any) (any, error))
	functions[loopFunction] = func(v any) (any, error) {
		switch over := reflect.ValueOf(v); {
		case over.CanInt() && over.Int() > 100, over.Kind() == reflect.Slice && over.Len() > 100:
			return nil, errTooLarge
		}
		if left--; left < 0 {
			return nil, errTooLarge
		}
		return loop(v)
	}
}
