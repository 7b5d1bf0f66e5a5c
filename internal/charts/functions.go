package charts

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp/syntax"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// shallowFunctions do not go through what their arguments refer to: their cost is that of
// the texts and lists that they are given and give.
var shallowFunctions = []string{
	"abbrev", "abbrevboth", "add", "add1", "add1f", "addf", "adler32sum", "all", "any", "append", "atoi",
	"b32dec", "b32enc", "b64dec", "b64enc", "base", "biggest", "camelcase", "ceil", "chunk", "clean", "coalesce",
	"compact", "concat", "contains", "dateModify", "date_modify", "default", "dict", "dig", "dir", "div", "divf",
	"duration", "durationRound", "empty", "ext", "first", "float64", "floor", "get", "hasKey", "hasPrefix",
	"hasSuffix", "hello", "initial", "initials", "int", "int64", "isAbs", "kebabcase", "keys", "kindIs", "kindOf", "last",
	"list", "lower", "max", "maxf", "min", "minf", "mod", "mul", "mulf", "mustAppend", "mustChunk", "mustCompact",
	"mustDateModify", "mustFirst", "mustInitial", "mustLast", "mustPrepend", "mustPush", "mustRest", "mustReverse", "mustSlice",
	"must_date_modify", "nospace", "omit", "osBase", "osClean", "osDir", "osExt", "osIsAbs", "pick", "pluck", "plural", "prepend", "push",
	"regexQuoteMeta", "rest", "reverse", "round", "semver", "semverCompare", "set", "sha1sum", "sha256sum", "sha512sum",
	"slice", "snakecase", "sub", "subf", "substr", "swapcase", "ternary", "title", "toDecimal", "trim", "trimAll", "trimPrefix", "trimSuffix",
	"trimall", "trunc", "tuple", "typeIs", "typeIsLike", "typeOf", "unixEpoch", "unset", "untitle", "upper", "urlJoin", "urlParse", "values",
}

// passing functions give one of their arguments, or what is in it: nothing new is made.
var passing = map[string]bool{
	"default": true, "coalesce": true, "ternary": true, "get": true, "set": true, "unset": true, "dig": true,
	"first": true, "mustFirst": true, "last": true, "mustLast": true,
}

// decoding functions read a text into a value.
var decoding = map[string]bool{
	"fromYaml": true, "fromYamlArray": true, "fromToml": true, "fromJson": true, "mustFromJson": true, "fromJsonArray": true,
}

// growing says of functions whose results can be far larger than their arguments, or take
// far longer, how much they take before they run: bytes, and work on top of it.
func (x *execution) growing() map[string]weight {
	times := func(n, text int) weight {
		return func(args []reflect.Value) (int64, int64) {
			return product(magnitude(args[n])+1, shallow(args[text])+1), 0
		}
	}
	bytesOf := func(factor int64, of ...int) weight {
		return func(args []reflect.Value) (int64, int64) {
			n := factor
			for _, i := range of {
				n = product(n, length(args[i])+1)
			}
			return n, 0
		}
	}
	numbers := func(of ...int) weight {
		return func(args []reflect.Value) (n, _ int64) {
			for _, i := range of {
				n += 16 * magnitude(args[i])
			}
			return n, 0
		}
	}
	// Comparing two values takes some 100 ns.
	compare := func(of ...int) weight {
		return func(args []reflect.Value) (int64, int64) {
			n := int64(10)
			for _, i := range of {
				n = product(n, length(args[i])+1)
			}
			return 0, n
		}
	}
	regex := func(replacement int) weight {
		return func(args []reflect.Value) (int64, int64) {
			text := shallow(args[1]) + 1
			n, work := 50*text, product(x.regexSize(args[0].String()), text)
			if replacement > 0 {
				n += product(text, shallow(args[replacement])+1)
			}
			return n, work
		}
	}
	sequence := func(args []reflect.Value) (int64, int64) {
		n := int64(0)
		for i := range args[0].Len() {
			n += magnitude(args[0].Index(i))
		}
		return 24 * n, n
	}
	return map[string]weight{
		"repeat": times(0, 1), "indent": times(0, 1), "nindent": times(0, 1),
		"until": numbers(0), "untilStep": numbers(0, 1), "seq": sequence,
		"replace": func(args []reflect.Value) (int64, int64) {
			return shallow(args[2]) + product(int64(strings.Count(args[2].String(), args[0].String())), shallow(args[1])), 0
		},
		"join":      func(args []reflect.Value) (int64, int64) { return product(length(args[1]), shallow(args[0])+1), 0 },
		"splitList": bytesOf(40, 1), "split": bytesOf(80, 1), "splitn": bytesOf(80, 2),
		"wrap": bytesOf(2, 1), "wrapWith": bytesOf(2, 1, 2), "sortAlpha": compare(0),
		"has": compare(1), "mustHas": compare(1), "uniq": compare(0, 0), "mustUniq": compare(0, 0),
		"without": compare(0, 1), "mustWithout": compare(0, 1),
		"regexMatch": regex(0), "mustRegexMatch": regex(0), "regexFind": regex(0), "mustRegexFind": regex(0),
		"regexFindAll": regex(0), "mustRegexFindAll": regex(0), "regexSplit": regex(0), "mustRegexSplit": regex(0),
		"regexReplaceAll": regex(2), "mustRegexReplaceAll": regex(2),
		"regexReplaceAllLiteral": regex(2), "mustRegexReplaceAllLiteral": regex(2),
		"fromYaml": bytesOf(40, 0), "fromYamlArray": bytesOf(40, 0), "fromToml": bytesOf(40, 0),
		"fromJson": bytesOf(30, 0), "mustFromJson": bytesOf(30, 0), "fromJsonArray": bytesOf(30, 0),
		"printf": printfWeight,
		// scrypt: a tenth of a second and 32 MB.
		"derivePassword": func([]reflect.Value) (int64, int64) { return 32 << 20, 10_000_000 },
	}
}

// weight is what a call takes: bytes, and work.
type weight func(args []reflect.Value) (memory, work int64)

// functions are those of Helm's engine, bound to the budget.
// Source: helm.sh/helm/v4 pkg/engine, funcMap and initFunMap.
func (x *execution) functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	maps.Copy(all, helmFunctions())
	maps.Copy(all, x.madeUp())
	maps.Copy(all, template.FuncMap{
		"print": fmt.Sprint, "println": fmt.Sprintln, "printf": formatted,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	})
	deep := map[string]bool{}
	for name := range all {
		deep[name] = true
	}
	for _, name := range shallowFunctions {
		deep[name] = false
	}
	growing := x.growing()
	out := template.FuncMap{}
	for name, f := range all {
		out[name] = x.guard(f, manner{weight: growing[name], deep: deep[name], passing: passing[name], decoding: decoding[name]})
	}
	maps.Copy(out, x.bound())
	return out
}

// bound are the functions that need the execution itself; those of templates are bound to
// them later.
func (x *execution) bound() template.FuncMap {
	return template.FuncMap{
		"required": required,
		"fail":     func(message string) (string, error) { return "", &chosenError{message} },
		"lookup": func(_, _, _, _ string) map[string]any {
			x.lookups++
			return map[string]any{}
		},
		stepFunction: func(size int64) (string, error) { return "", x.spend(stepCost+nodeCost*size, 0) },
		enterFunction: func(depth int64) (string, error) {
			if err := x.spend(enterCost, 0); err != nil {
				return "", err
			}
			return "", x.enter(int(depth))
		},
		leaveFunction: func(depth int64) string {
			x.leave(int(depth))
			return ""
		},
		printFunction: func(v reflect.Value) (reflect.Value, error) {
			n, err := weigh(v, mostValue)
			if err != nil {
				return v, x.stop(err)
			}
			return v, x.spend(n/8, 0)
		},
		fileFunction: func(calls int64) (string, error) {
			return "", x.spend(calls*x.files, 4*calls*x.files)
		},
	}
}

// chosenError is what a chart says with fail or required.
type chosenError struct{ message string }

func (e *chosenError) Error() string { return e.message }

func required(message string, value any) (any, error) {
	if text, isText := value.(string); value == nil || isText && text == "" {
		return value, &chosenError{message}
	}
	return value, nil
}

// formatted is printf.
func formatted(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// manner is how a function takes work and memory.
type manner struct {
	// weight of what it takes on top, nil for nothing.
	weight weight
	// deep says that it goes through all that its arguments refer to.
	deep bool
	// passing says that it makes nothing new, decoding that it reads a text into a value.
	passing, decoding bool
}

// guard wraps a function: what it takes is spent before and after it runs. The types stay as
// they are, so that what Helm refuses for a wrong type is refused here.
func (x *execution) guard(f any, how manner) any {
	fn := reflect.ValueOf(f)
	t := fn.Type()
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	errorType := reflect.TypeFor[error]()
	out := t.Out(0)
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{out, errorType}, t.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		value, err := x.invoke(fn, args, how)
		if err != nil {
			return []reflect.Value{reflect.Zero(out), reflect.ValueOf(&err).Elem()}
		}
		return []reflect.Value{value, reflect.Zero(errorType)}
	}).Interface()
}

func (x *execution) invoke(fn reflect.Value, args []reflect.Value, how manner) (reflect.Value, error) {
	copied, taken, err := x.charge(args, how)
	if err != nil {
		return reflect.Value{}, err
	}
	var results []reflect.Value
	if fn.Type().IsVariadic() {
		results = fn.CallSlice(args)
	} else {
		results = fn.Call(args)
	}
	if len(results) == 2 && !results[1].IsNil() {
		err, _ := results[1].Interface().(error)
		return reflect.Value{}, err
	}
	if how.decoding {
		x.memory += taken * 6 / 10 // a decoder's own, which is free again
	}
	n := shallow(results[0])
	switch {
	case how.passing:
		n = 0
	case how.deep && results[0].Kind() != reflect.String:
		n += copied
	}
	return results[0], x.spend(n/8, n)
}

// charge spends what a call takes, and gives what a copy of the arguments of a deep function
// takes, and the memory that it spent.
func (x *execution) charge(args []reflect.Value, how manner) (copied, memory int64, err error) {
	work, size := int64(callCost), int64(0)
	for _, arg := range args {
		if !how.deep {
			work += shallow(arg) / 8
			continue
		}
		n, c, err := weighCopy(arg, mostValue)
		if err != nil {
			return 0, 0, x.stop(err)
		}
		size, copied = size+n, copied+c
	}
	if how.weight != nil {
		m, w := how.weight(args)
		memory, work = memory+m, work+w+m/16
	}
	return copied, memory, x.spend(work+size/8, memory)
}

// stop ends the execution if the error is a limit: nothing may go on after one.
func (x *execution) stop(err error) error {
	var limit *LimitError
	if errors.As(err, &limit) {
		x.stopped = limit
	}
	return err
}

// most is above all budgets, and far below an overflow.
const most = 1 << 40

func product(a, b int64) int64 {
	if a > 0 && b > most/a {
		return most
	}
	return a * b
}

// magnitude of a number that a function counts to. sprig takes texts for numbers too.
func magnitude(v reflect.Value) int64 {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case v.CanInt():
		return min(max(v.Int(), -v.Int()), most)
	case v.CanUint():
		return int64(min(v.Uint(), most))
	case v.CanFloat():
		if f := v.Float(); f < most && f > -most {
			return max(int64(f), -int64(f))
		}
		return most
	case v.Kind() == reflect.String:
		var n int64
		for _, c := range v.String() {
			if c >= '0' && c <= '9' {
				n = min(n*10+int64(c-'0'), most)
			}
		}
		return n
	}
	return 0
}

// length of a text, or of a list.
func length(v reflect.Value) int64 {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map:
		return int64(v.Len())
	}
	return 1
}

// printfWeight is the size of the arguments, as often as the format may name them, and of
// all widths that it asks for.
func printfWeight(args []reflect.Value) (memory, work int64) {
	format := args[0].String()
	verbs := int64(strings.Count(format, "%"))
	size, err := weigh(args[1], mostValue)
	if err != nil {
		return most, 0
	}
	if strings.ContainsAny(format, "*[") {
		return product(verbs, size+1_000_000), 0
	}
	total, width := size, int64(0)
	for _, c := range format {
		if c >= '0' && c <= '9' {
			width = min(width*10+int64(c-'0'), most)
			continue
		}
		total, width = total+width, 0
	}
	return total, 0
}

// regexSize is how many steps a regular expression takes for each byte, at most: a
// repetition makes a short one large. One that doesn't compile takes none.
func regexSize(expression string) int64 {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return 1
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 1
	}
	return int64(len(prog.Inst))
}

// regexSize remembers the sizes: templates use the same expression over and over.
func (x *execution) regexSize(expression string) int64 {
	n, known := x.regexes[expression]
	if !known {
		n = regexSize(expression)
		x.regexes[expression] = n
	}
	return n
}
