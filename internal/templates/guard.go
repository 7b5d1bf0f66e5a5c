package templates

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
)

// guard wraps a function: if an argument contains a mark, the result is a mark, and very long strings are refused.
// The types of parameters do not change, so that a template that helmfile refuses for a wrong type is refused here
// too.
func (r *rendering) guard(name string, f any) any {
	fn := reflect.ValueOf(f)
	t := fn.Type()
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	anyType, errorType := reflect.TypeFor[any](), reflect.TypeFor[error]()
	wrapped := reflect.FuncOf(in, []reflect.Type{anyType, errorType}, t.IsVariadic())
	result := func(v any, err error) []reflect.Value {
		out := []reflect.Value{reflect.Zero(anyType), reflect.Zero(errorType)}
		if v != nil {
			out[0] = reflect.ValueOf(&v).Elem()
		}
		if err != nil {
			out[1] = reflect.ValueOf(&err).Elem()
		}
		return out
	}
	return reflect.MakeFunc(wrapped, func(args []reflect.Value) []reflect.Value {
		if err := r.take(name, args); err != nil {
			return result(nil, err)
		}
		for _, a := range args {
			if m, bad := r.markIn(name, a); bad {
				return result(r.derived(m), nil)
			}
		}
		if count.Created(name, args) > limits.TemplateOutput {
			return result(nil, errTooLarge)
		}
		v, err := invoke(fn, withoutCycle(name, args))
		if err != nil {
			return result(nil, err)
		}
		text, ok := v.(string)
		switch {
		case len(text) > limits.TemplateOutput:
			return result(nil, errTooLarge)
		case ok && strings.Contains(text, `\ue0f7`):
			v = unescapedMarks.Replace(text)
		}
		return result(v, nil)
	}).Interface()
}

// mutators are the functions that put values into a map of the template, with the position of the
// map among their arguments.
var mutators = map[string]int{"set": 0, "merge": 0, "mergeOverwrite": 0, "mustMerge": 0, "mustMergeOverwrite": 0, "setValueAtPath": 2}

// withoutCycle copies an argument of a mutator that contains a map which the target also
// contains, so that no map contains itself.
func withoutCycle(name string, args []reflect.Value) []reflect.Value {
	into, is := mutators[name]
	if !is {
		return args
	}
	own := map[uintptr]bool{}
	mapsWithin(args[into], func(p uintptr) { own[p] = true })
	out := slices.Clone(args)
	for i, arg := range args {
		shared := false
		mapsWithin(arg, func(p uintptr) { shared = shared || own[p] })
		if i == into || !shared {
			continue
		}
		if list, ok := arg.Interface().([]map[string]any); ok {
			copies := make([]map[string]any, len(list))
			for j, m := range list {
				copies[j] = Copied(m)
			}
			out[i] = reflect.ValueOf(copies)
			continue
		}
		fresh := reflect.New(arg.Type()).Elem()
		fresh.Set(reflect.ValueOf(CopyValue(arg.Interface())))
		out[i] = fresh
	}
	return out
}

// mapsWithin calls f with the identity of each map in a value without cycles.
func mapsWithin(v reflect.Value, f func(uintptr)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			mapsWithin(v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			mapsWithin(v.Index(i), f)
		}
	case reflect.Map:
		f(v.Pointer())
		for it := v.MapRange(); it.Next(); {
			mapsWithin(it.Value(), f)
		}
	}
}

func invoke(fn reflect.Value, args []reflect.Value) (any, error) {
	var out []reflect.Value
	if fn.Type().IsVariadic() {
		out = fn.CallSlice(args)
	} else {
		out = fn.Call(args)
	}
	if len(out) == 2 && !out[1].IsNil() {
		err, _ := out[1].Interface().(error)
		return nil, err
	}
	return out[0].Interface(), nil
}

// carriers keep a mark inside of their result, so that only values that use it become unresolved.
// The result of all other functions is the mark itself.
var carriers = []string{"dict", "list", "tuple", "set", "merge", "mergeOverwrite", "mustMerge",
	"mustMergeOverwrite", "append", "prepend", "push", "concat", "toYaml", "fromYaml", "toJson", "print", "println",
	"printf", "join", "cat", "trim", "trimSuffix", "trimPrefix", "indent", "nindent", "replace", "regexReplaceAll",
	"regexReplaceAllLiteral", "regexSplit", "tpl", "include", "setValueAtPath", "pick", "omit", "values", "keys",
	"deepCopy", "quote", "squote", "upper", "lower", "exec", "expandenv", "readFile", "eq", "ne", "first", "last", "ternary"}

// decided are functions that only check whether a string is empty: a string that contains more
// than marks isn't.
var decided = []string{"default", "coalesce", "required", "empty"}

// markIn returns a mark in an argument: in a string, or in the strings of a list.
func (r *rendering) markIn(function string, v reflect.Value) (located.Unknown, bool) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	carrier := slices.Contains(carriers, function)
	switch {
	case v.Kind() == reflect.String && slices.Contains(decided, function) && !onlyMarks(v.String()):
	case v.Kind() == reflect.String && !carrier:
		return r.Marked(v.String())
	case v.Kind() == reflect.String && (function == "toYaml" || function == "fromYaml") && onlyMarks(v.String()):
		return r.Marked(v.String())
	case v.Kind() == reflect.Slice && !carrier:
		for i := range min(v.Len(), 10_000) {
			item := v.Index(i)
			if item.Kind() == reflect.Interface {
				item = item.Elem()
			}
			if item.Kind() == reflect.String && (!slices.Contains(decided, function) || onlyMarks(item.String())) {
				if m, bad := r.Marked(item.String()); bad {
					return m, true
				}
			}
		}
	}
	return located.Unknown{}, false
}

// formatted is printf. An address in memory would differ each time, so it becomes a mark.
func (r *rendering) formatted(format string, args ...any) string {
	if printsAddress.MatchString(strings.ReplaceAll(format, "%%", "")) {
		return r.Mark(located.Unknown{Reason: "the template prints the memory address of a value"})
	}
	return fmt.Sprintf(format, args...)
}

var printsAddress = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)
