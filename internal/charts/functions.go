package charts

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// functions replace the functions of Helm's engine that would return another value in each run, read the environment, or
// end the process; the engine itself leaves out env and expandenv.
func (x *execution) functions() template.FuncMap {
	all := x.fixed()
	maps.Copy(all, x.allocating())
	maps.Copy(all, template.FuncMap{
		"required": func(message string, value any) (any, error) {
			if text, isText := value.(string); value == nil || isText && text == "" {
				return value, x.choose(message)
			}
			return value, nil
		},
		"fail": func(message string) (string, error) { return "", x.choose(message) },
		"lookup": func(_, _, _, _ string) (map[string]any, error) {
			x.lookups++
			return map[string]any{}, nil
		},
		resultFunction:  x.result,
		textFunction:    x.text,
		printedFunction: x.printed,
		stepFunction:    x.step,
	})
	return all
}

// chosenError is the message of fail or required. It is not the error of a template, which Helm would reword.
type chosenError struct{ message string }

func (e *chosenError) Error() string { return "the chart fails: " + e.message }

func (x *execution) choose(message string) error {
	x.chosen = &chosenError{message}
	return x.chosen
}

var (
	errAtOnce = limitf("a template creates a value larger than %d MB", limits.ChartOutput>>20)
	errDrawn  = limitf("the templates create random strings of more than %d MB", limits.ChartOutput>>20)
	errSpent  = limitf("the repetitions of loops, the created values and the output of the templates add up to more than %d MB", limits.ChartTexts>>20)
)

// allocating returns guarded versions of the functions that can allocate at once far more memory than their arguments
// have, and of those that double a string with each call.
func (x *execution) allocating() template.FuncMap {
	all := template.FuncMap{"printf": x.bounded("printf", fmt.Sprintf), "print": x.bounded("print", fmt.Sprint), "println": x.bounded("println", fmt.Sprintln)}
	for name, f := range sprig.TxtFuncMap() {
		if slices.Contains(writing, name) || count.CountsFunction(name) {
			all[name] = x.bounded(name, f)
		}
	}
	return all
}

// writing are the functions that write all values in their arguments, or repeat a string.
var writing = []string{"print", "println", "printf", "cat", "quote", "squote", "toString", "toStrings", "b64enc", "b32enc"}

// bounded wraps a function so that it refuses to create more than limits.ChartOutput.
func (x *execution) bounded(name string, f any) any {
	fn := reflect.ValueOf(f)
	t := fn.Type()
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	none := reflect.Zero(reflect.TypeFor[error]())
	refused := func(err error) []reflect.Value {
		value := reflect.New(none.Type()).Elem()
		value.Set(reflect.ValueOf(err))
		return []reflect.Value{reflect.Zero(t.Out(0)), value}
	}
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{t.Out(0), none.Type()}, t.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		created := count.Created(name, args)
		if created > limits.ChartOutput {
			return refused(errAtOnce)
		}
		if slices.Contains(writing, name) {
			for _, arg := range args {
				if err := x.spendOn(arg); err != nil {
					return refused(err)
				}
			}
		}
		call := fn.Call
		if t.IsVariadic() {
			call = fn.CallSlice
		}
		out := call(args)
		if out[0].Kind() == reflect.String {
			if created = out[0].Len(); created > limits.ChartOutput {
				return refused(errAtOnce)
			}
		}
		if err := x.spend(created); err != nil {
			return refused(err)
		}
		return append(out, none)[:2]
	}).Interface()
}
