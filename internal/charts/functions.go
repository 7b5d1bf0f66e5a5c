package charts

import (
	"fmt"
	"maps"
	"reflect"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// functions stand in for those of Helm's engine that would give something else in each run, look
// around, or end the process; the engine itself leaves out env and expandenv.
func (x *execution) functions() template.FuncMap {
	all := x.madeUp()
	maps.Copy(all, allocating())
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
		resultFunction: x.boundedResult,
		textFunction:   boundedText,
	})
	return all
}

// chosenError is what a chart says with fail or required. Its text is no template's error, which
// Helm would put into other words.
type chosenError struct{ message string }

func (e *chosenError) Error() string { return "the chart fails: " + e.message }

func (x *execution) choose(message string) error {
	x.chosen = &chosenError{message}
	return x.chosen
}

var (
	errAtOnce   = limitf("a template creates a value larger than %d MB", limits.ChartOutput>>20)
	errDrawn    = limitf("the templates create random texts of more than %d MB", limits.ChartOutput>>20)
	errIncluded = limitf("the templates include texts of more than %d MB", limits.ChartIncluded>>20)
)

// allocating are the functions that allocate at once what can be far larger than their arguments, and
// those that double a text with each call.
func allocating() template.FuncMap {
	all := template.FuncMap{"printf": bounded("printf", fmt.Sprintf), "print": bounded("print", fmt.Sprint), "println": bounded("println", fmt.Sprintln)}
	for name, f := range sprig.TxtFuncMap() {
		if name == "cat" || count.CountsFunction(name) {
			all[name] = bounded(name, f)
		}
	}
	return all
}

// bounded is a function that refuses to create more than limits.ChartOutput.
func bounded(name string, f any) any {
	fn := reflect.ValueOf(f)
	t := fn.Type()
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	none := reflect.Zero(reflect.TypeFor[error]())
	refused := []reflect.Value{reflect.Zero(t.Out(0)), reflect.New(none.Type()).Elem()}
	refused[1].Set(reflect.ValueOf(errAtOnce))
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{t.Out(0), none.Type()}, t.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		if count.Created(name, args) > limits.ChartOutput {
			return refused
		}
		call := fn.Call
		if t.IsVariadic() {
			call = fn.CallSlice
		}
		out := call(args)
		if out[0].Kind() == reflect.String && out[0].Len() > limits.ChartOutput {
			return refused
		}
		return append(out, none)[:2]
	}).Interface()
}
