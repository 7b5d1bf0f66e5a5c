package bootstrap

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// pureFunctions are sprig's that are evaluated: deterministic, without side
// effect, and with a result whose size is bounded by the arguments'.
var pureFunctions = []string{
	"abbrev", "add", "add1", "adler32sum", "all", "any", "append", "atoi", "b32dec", "b32enc",
	"b64dec", "b64enc", "base", "biggest", "camelcase", "cat", "ceil", "chunk", "clean", "coalesce",
	"compact", "concat", "contains", "deepCopy", "deepEqual", "default", "dict", "dig", "dir", "div",
	"empty", "ext", "fail", "first", "float64", "floor", "fromJson", "has", "hasKey", "hasPrefix",
	"hasSuffix", "initial", "int", "int64", "isAbs", "kebabcase", "keys", "kindIs", "kindOf", "last",
	"list", "lower", "max", "maxf", "merge", "mergeOverwrite", "min", "minf", "mod", "mul",
	"mustAppend", "mustCompact", "mustDeepCopy", "mustFirst", "mustFromJson", "mustHas",
	"mustInitial", "mustLast", "mustMerge", "mustMergeOverwrite", "mustPrepend", "mustRest",
	"mustReverse", "mustSlice", "mustToJson", "mustToPrettyJson",
	"nospace", "omit", "osBase", "osClean", "osDir", "osExt", "pick", "pluck", "plural", "prepend",
	"push", "quote", "regexQuoteMeta", "rest", "reverse", "round", "semver",
	"semverCompare", "set", "sha1sum", "sha256sum", "sha512sum", "slice", "snakecase", "sortAlpha",
	"split", "splitList", "splitn", "squote", "sub", "substr", "swapcase", "title",
	"toJson", "toPrettyJson", "toRawJson", "toString", "toStrings", "trim", "trimAll", "trimPrefix",
	"trimSuffix", "trimall", "trunc", "tuple", "typeIs", "typeIsLike", "typeOf", "unset",
	"untitle", "upper", "urlJoin", "urlParse", "values",
}

// freeFunctions are sprig's whose results can be far larger than their arguments, made piece by
// piece: what they take is measured.
var freeFunctions = []string{
	"mustUniq", "mustWithout", "regexFind", "regexFindAll", "regexMatch", "regexReplaceAll", "regexReplaceAllLiteral", "regexSplit",
	"uniq", "without", "wrap",
}

// sizes are how large the results of sprig's other functions are, in bytes or items: they ask for
// much memory at once, of which there may not be as much.
var sizes = map[string]func(args []reflect.Value) int64{
	"repeat": func(args []reflect.Value) int64 { return times(args[0].Int(), int64(args[1].Len())) },
	"indent": indented, "nindent": indented,
	"until":     func(args []reflect.Value) int64 { return max(args[0].Int(), -args[0].Int()) },
	"untilStep": counted, "replace": replaced, "join": joined,
	// A text has no more lines than twice as many as their length goes into it.
	"wrapWith": func(args []reflect.Value) int64 {
		return times(2*int64(args[2].Len())/max(args[0].Int(), 1)+1, int64(args[1].Len()))
	},
}

func counted(args []reflect.Value) int64 {
	if args[2].Int() == 0 {
		return 0
	}
	return (args[1].Int() - args[0].Int()) / args[2].Int()
}

// times is a number, that may be any, of parts of a size: without overflow where it is too large.
func times(number, size int64) int64 { return min(max(number, 0), maxTextBytes+1) * size }

func indented(args []reflect.Value) int64 {
	text := args[1].String()
	return times(args[0].Int(), int64(1+strings.Count(text, "\n"))) + int64(len(text))
}

func replaced(args []reflect.Value) int64 {
	old, replacement, text := args[0].String(), args[1].String(), args[2].String()
	return int64(len(text)) + times(int64(len(replacement)-len(old)), int64(strings.Count(text, old)))
}

// joined counts the texts of a list: what else is in it is made a text of its own.
func joined(args []reflect.Value) int64 {
	list := args[1]
	for list.Kind() == reflect.Interface {
		list = list.Elem()
	}
	if list.Kind() != reflect.Slice {
		return 0
	}
	n := int64(0)
	for i := range list.Len() {
		item := list.Index(i)
		if item.Kind() == reflect.Interface {
			item = item.Elem()
		}
		if item.Kind() == reflect.String {
			n += int64(item.Len() + args[0].Len())
		}
	}
	return n
}

// bind makes the functions of helmfile's templates, by their names there.
func (r *rendering) bind() template.FuncMap {
	all := sprig.TxtFuncMap()
	out := template.FuncMap{}
	for name := range all {
		out[name] = r.refused(name)
	}
	for _, name := range slices.Concat(pureFunctions, freeFunctions, slices.Collect(maps.Keys(sizes))) {
		out[name] = r.guard(name, all[name])
	}
	out["sprigGet"] = r.guard("get", all["get"])
	for _, name := range []string{"envExec", "fetchSecretValue", "expandSecretRefs"} {
		out[name] = r.refused(name)
	}
	for _, name := range []string{"env", "requiredEnv"} {
		out[name] = r.environment(name)
	}
	maps.Copy(out, r.helmfileFunctions())
	maps.Copy(out, r.builtins())
	return out
}

// helmfileFunctions are helmfile's own (pkg/tmpl/context_funcs.go, v1.8.0).
func (r *rendering) helmfileFunctions() template.FuncMap {
	own := template.FuncMap{
		"readFile":       r.readFile,
		"exec":           r.exec,
		"expandenv":      r.expanded,
		"readDir":        r.readDir,
		"isFile":         r.isFile,
		"isDir":          r.isDir,
		"fromYaml":       r.fromYAML,
		"toYaml":         toYAML,
		"get":            get,
		"getOrNil":       getOrNil,
		"setValueAtPath": setValueAtPath,
		"required":       required,
		"tpl":            r.tpl,
		"include":        r.include,
		"ternary":        r.ternary,
	}
	out := template.FuncMap{"readDirEntries": r.refused("readDirEntries")}
	for name, f := range own {
		out[name] = r.guard(name, f)
	}
	return out
}

// builtins are the template package's own, guarded in the same way, and the two
// functions that rewrite adds.
func (r *rendering) builtins() template.FuncMap {
	return template.FuncMap{
		"printf":          r.guard("printf", r.formatted),
		"print":           r.guard("print", fmt.Sprint),
		"println":         r.guard("println", fmt.Sprintln),
		"html":            r.guard("html", template.HTMLEscaper),
		"js":              r.guard("js", template.JSEscaper),
		"urlquery":        r.guard("urlquery", template.URLQueryEscaper),
		"len":             r.guard("len", lengthOf),
		"index":           r.guard("index", index),
		"eq":              r.guard("eq", r.equalAny),
		"ne":              r.guard("ne", r.unequal),
		"lt":              r.guard("lt", func(a, b any) (bool, error) { c, err := order(a, b); return c < 0, err }),
		"le":              r.guard("le", func(a, b any) (bool, error) { c, err := order(a, b); return c <= 0, err }),
		"gt":              r.guard("gt", func(a, b any) (bool, error) { c, err := order(a, b); return c > 0, err }),
		"ge":              r.guard("ge", func(a, b any) (bool, error) { c, err := order(a, b); return c >= 0, err }),
		"not":             r.not,
		"call":            r.refused("call"),
		conditionFunction: r.condition,
		eitherFunction:    r.either,
		loopFunction: func(v any) (any, error) {
			if m, bad := r.openly(v); bad {
				return nil, fmt.Errorf("%w: %s", errUndecided, m.reason)
			}
			return v, nil
		},
	}
}

// openly says of a value that is nothing but a mark which one it is.
func (r *rendering) openly(v any) (mark, bool) {
	if s, ok := v.(string); ok && wholly(s) {
		return r.marked(s)
	}
	return mark{}, false
}

// condition decides a mark, and fails where nobody can tell.
func (r *rendering) condition(v any) (any, error) {
	m, bad := r.openly(v)
	if !bad {
		return v, nil
	}
	switch holds, known := r.holds(m); {
	case !known:
		return nil, fmt.Errorf("%w: %s", errUndecided, m.reason)
	case !holds:
		return false, nil
	}
	return v, nil
}

// either decides a mark that or has another value for; it stays one where nobody can tell.
func (r *rendering) either(v any) any {
	if m, bad := r.openly(v); bad {
		if holds, known := r.holds(m); known && !holds {
			return false
		}
	}
	return v
}

func (r *rendering) not(v any) any {
	if m, bad := r.openly(v); bad {
		if holds, known := r.holds(m); known {
			return !holds
		}
		return r.mark(negated(m))
	}
	return !truth(v)
}

// ternary chooses one of two values.
func (r *rendering) ternary(yes, no, condition any) (any, error) {
	if m, bad := r.openly(condition); bad {
		holds, known := r.holds(m)
		if !known {
			return r.derived(m, "ternary", yes, no), nil
		}
		condition = holds
	}
	holds, is := condition.(bool)
	if !is {
		return nil, fmt.Errorf("wrong type for value; expected bool; got %T", condition)
	}
	if holds {
		return yes, nil
	}
	return no, nil
}

func truth(v any) bool {
	t, _ := template.IsTrue(v)
	return t
}

// refused is a function that is not evaluated.
func (r *rendering) refused(name string) any {
	return func(...any) string {
		return r.mark(mark{reason: fmt.Sprintf("the template calls %s, which is not run here", name)})
	}
}

func (r *rendering) environment(name string) any {
	return func(args ...any) string {
		variable := "a variable"
		if len(args) > 0 {
			if s, ok := args[0].(string); ok && len(s) < 100 {
				variable = s
			}
		}
		if value, known := r.variable(variable); known {
			return value
		}
		return r.mark(environmentMark(name+" "+strconv.Quote(variable), variable))
	}
}

// environmentMark stands for the value of an environment variable, which something reads.
func environmentMark(reader, variable string) mark {
	return mark{reason: "the template reads the environment: " + reader, variable: variable}
}

// guard wraps a function: a mark among the arguments is the result, and huge texts are refused.
// Parameter types stay as they are, so that templates that helmfile refuses for
// a wrong type are refused here too.
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
		for _, a := range args {
			if m, bad := r.markIn(name, a); bad {
				return result(r.derived(m, name, interfaces(args)...), nil)
			}
		}
		if size := sizes[name]; size != nil && size(args) > maxTextBytes {
			return result(nil, errTooLarge)
		}
		v, err := invoke(fn, withoutCycle(name, args))
		if err != nil {
			return result(nil, err)
		}
		text, ok := v.(string)
		switch {
		case len(text) > maxTextBytes:
			return result(nil, errTooLarge)
		case ok && strings.Contains(text, `\ue0f7`):
			v = unescapedMarks.Replace(text)
		}
		return result(r.changed(name, v, args), nil)
	}).Interface()
}

// changers are the carriers after which a mark in a text stands for another value.
var changers = []string{"trim", "trimSuffix", "trimPrefix", "indent", "nindent", "replace", "regexReplaceAll",
	"regexReplaceAllLiteral", "quote", "squote", "upper", "lower"}

// changed gives the marks in the text that a function made of another one marks of their own.
func (r *rendering) changed(name string, v any, args []reflect.Value) any {
	text, ok := v.(string)
	if !ok || !strings.Contains(text, markOpen) || !slices.Contains(changers, name) {
		return v
	}
	var others []any // what is done to the text
	for _, a := range args[:len(args)-1] {
		others = append(others, a.Interface())
	}
	return anyMark.ReplaceAllStringFunc(text, func(s string) string {
		m, _ := r.marked(s)
		return r.derived(m, name, others...)
	})
}

func interfaces(args []reflect.Value) []any {
	out := make([]any, 0, len(args))
	for _, a := range args {
		out = append(out, a.Interface())
	}
	return out
}

// mutators are the functions that put values into a map that the template has, by
// the position of the map among their arguments.
var mutators = map[string]int{"set": 0, "merge": 0, "mergeOverwrite": 0, "mustMerge": 0, "mustMergeOverwrite": 0, "setValueAtPath": 2}

// withoutCycle copies what a function would put into a map where it shares a map
// with it, so that no map comes to hold itself.
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
				copies[j] = copied(m)
			}
			out[i] = reflect.ValueOf(copies)
			continue
		}
		fresh := reflect.New(arg.Type()).Elem()
		fresh.Set(reflect.ValueOf(copyValue(arg.Interface())))
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

// carriers pass a mark on inside of their result, so that only what is made of
// it becomes unresolved; every other function's result is the mark itself.
var carriers = []string{"dict", "list", "tuple", "set", "merge", "mergeOverwrite", "mustMerge",
	"mustMergeOverwrite", "append", "prepend", "push", "concat", "toYaml", "fromYaml", "toJson", "print", "println",
	"printf", "join", "cat", "trim", "trimSuffix", "trimPrefix", "indent", "nindent", "replace", "regexReplaceAll",
	"regexReplaceAllLiteral", "regexSplit", "tpl", "include", "setValueAtPath", "pick", "omit", "values", "keys",
	"deepCopy", "quote", "squote", "upper", "lower", "exec", "expandenv", "readFile", "eq", "ne", "first", "last", "ternary"}

// decided are those that only ask of a text whether it is empty: one with more in
// it than marks isn't.
var decided = []string{"default", "coalesce", "required", "empty"}

// markIn finds a mark in an argument: in the text that it is, and in the texts
// of a list of them.
func (r *rendering) markIn(function string, v reflect.Value) (mark, bool) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	carrier := slices.Contains(carriers, function)
	switch {
	case v.Kind() == reflect.String && slices.Contains(decided, function) && !wholly(v.String()):
	case v.Kind() == reflect.String && !carrier:
		return r.marked(v.String())
	case v.Kind() == reflect.String && (function == "toYaml" || function == "fromYaml") && wholly(v.String()):
		return r.marked(v.String())
	case v.Kind() == reflect.Slice && !carrier:
		for i := range min(v.Len(), 10_000) {
			item := v.Index(i)
			if item.Kind() == reflect.Interface {
				item = item.Elem()
			}
			if item.Kind() == reflect.String && (!slices.Contains(decided, function) || wholly(item.String())) {
				if m, bad := r.marked(item.String()); bad {
					return m, true
				}
			}
		}
	}
	return mark{}, false
}

// formatted is printf. Where something stands in memory is another place each time.
func (r *rendering) formatted(format string, args ...any) string {
	if printsAddress.MatchString(strings.ReplaceAll(format, "%%", "")) {
		return r.mark(mark{reason: "the template prints where a value stands in memory"})
	}
	return fmt.Sprintf(format, args...)
}

var printsAddress = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)

// locate resolves a path to one in the repository, from the folder dir. The mark
// says why it leads to none. Of a path that leads out of the repository, nothing
// can be told, but where the rest of it begins with a folder of the repository:
// there the levels are miscounted, and no clone has the file. The mark begins with what
// needs the file.
func (e *engine) locate(needs, dir, p string) (string, mark) {
	if strings.Contains(p, markOpen) {
		return e.guess(dir, p)
	}
	if path.IsAbs(p) || strings.Contains(p, "://") || strings.Contains(p, "::") || strings.HasPrefix(p, "~") {
		return "", mark{reason: fmt.Sprintf("%s %q, which is not in the repository", needs, p)}
	}
	joined := path.Join(dir, p)
	if joined != ".." && !strings.HasPrefix(joined, "../") {
		return joined, mark{}
	}
	inside := joined
	for strings.HasPrefix(inside, "../") {
		inside = inside[3:]
	}
	if top, _, deep := strings.Cut(inside, "/"); deep && e.hasFolder(top) {
		return "", mark{reason: fmt.Sprintf("the file %s %s", joined, absence(joined)), missing: joined}
	}
	return "", mark{reason: fmt.Sprintf("%s %q, which is outside of the repository", needs, p)}
}

// absence says why the file at a path from the repository's root is missing.
func absence(p string) string {
	if strings.HasPrefix(p, "../") {
		return "leads out of the repository and isn't read"
	}
	return "doesn't exist"
}

// hasFolder says whether a path is a folder of the repository.
func (e *engine) hasFolder(p string) bool {
	return slices.ContainsFunc(e.paths(), func(f string) bool { return p == "." || strings.HasPrefix(f, p+"/") })
}

// guess resolves a path that depends on what is unknown, such as an environment
// variable: where only one file of the repository fits, helmfile can read no other.
func (e *engine) guess(dir, p string) (string, mark) {
	unknown, _ := e.marked(p)
	// What the path begins with is the repository's folder, likely: what decides is
	// what stands within.
	if _, rest, leading := strings.Cut(p, markClose+"/"); leading && strings.HasPrefix(p, markOpen) {
		if m, another := e.marked(rest); another {
			unknown = m
		}
	}
	if !strings.HasPrefix(p, markOpen) {
		p = path.Join(dir, p)
	}
	asked := p
	if _, rest, leading := strings.Cut(p, markClose+"/"); leading && strings.HasPrefix(p, markOpen) {
		asked = rest
	}
	pattern := regexp.QuoteMeta(p)
	if rest, leading := strings.CutPrefix(pattern, markOpen); leading {
		if _, rest, ok := strings.Cut(rest, markClose+"/"); ok {
			pattern = "(?:.+/)?" + rest
		}
	}
	pattern = anyMark.ReplaceAllString(pattern, `[^/]+`)
	fits, err := regexp.Compile("^" + pattern + "$")
	if err != nil {
		return "", unknown
	}
	var found []string
	for _, each := range e.paths() {
		if fits.MatchString(each) {
			found = append(found, each)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], mark{}
	case len(found) == 0 && asked != p && !strings.Contains(asked, markOpen):
		if gone := e.belowFolder(asked); gone != "" {
			return "", mark{reason: fmt.Sprintf("the file %s %s", gone, absence(gone)), missing: gone}
		}
	}
	e.askVariable(asked, found)
	return "", unknown
}

// belowFolder is where a path that begins with a variable leads, the variable being the folder of
// the repository or one in it: that has the path's first folder, or one further down its first two.
// It is "" where no folder fits, and the variable may be anything.
func (e *engine) belowFolder(rest string) string {
	rest = path.Clean(rest)
	first, next, deep := strings.Cut(rest, "/")
	if !deep || first == ".." {
		return ""
	}
	if e.hasFolder(first) {
		return rest
	}
	second, _, deep := strings.Cut(next, "/")
	if !deep {
		return ""
	}
	for _, f := range e.paths() {
		if above, _, in := strings.Cut(f, "/"+first+"/"+second+"/"); in {
			return path.Join(above, rest)
		}
	}
	return ""
}

func (r *rendering) readFile(name string) (any, error) {
	p, bad := r.locate("the template reads", r.dir, name)
	if bad.reason == "" {
		var data []byte
		if data, bad = r.read(p); bad.reason == "" {
			return string(data), nil
		}
	}
	if bad.missing != "" {
		r.reads[bad.missing] = false
	}
	r.blocked = append(r.blocked, bad)
	return r.mark(bad), nil
}

// read reads a file of the repository and records it. A mark says why not: only
// a file that isn't there is missing, a link out of the repository is not.
func (e *engine) read(p string) ([]byte, mark) {
	data, err := e.files.ReadFile(p)
	switch {
	case err == nil:
		e.reads[p] = true
		e.rendering.noteRead(p)
		return data, mark{}
	case errors.Is(err, fs.ErrNotExist):
		e.reads[p] = false
		return nil, mark{reason: fmt.Sprintf("the file %s doesn't exist", p), missing: p}
	}
	return nil, mark{reason: "a file cannot be read: " + shortened(err.Error())}
}

func (r *rendering) isFile(name string) any {
	p, bad := r.locate("the template reads", r.dir, name)
	switch {
	case bad.missing != "":
		return false
	case bad.reason != "":
		return r.mark(bad)
	}
	return r.files.Exists(p)
}

func (r *rendering) isDir(name string) any {
	p, bad := r.locate("the template reads", r.dir, name)
	if bad.reason != "" {
		return r.mark(bad)
	}
	return r.hasFolder(p)
}

// readDir lists the files of a folder, each as the given path joined with its
// name.
func (r *rendering) readDir(name string) any {
	p, bad := r.locate("the template reads", r.dir, name)
	if bad.reason != "" {
		return r.mark(bad)
	}
	var found []string
	for _, f := range r.paths() {
		if path.Dir(f) == p {
			found = append(found, path.Join(name, path.Base(f)))
		}
	}
	if found == nil {
		return r.mark(mark{reason: fmt.Sprintf("the folder %s doesn't exist", p), missing: p})
	}
	return found
}

func (r *rendering) tpl(text string, data any) (string, error) {
	return r.run(text, data)
}

func (r *rendering) include(name string, data any) (string, error) {
	t := r.root.Lookup(name)
	if t == nil {
		return "", fmt.Errorf("there is no template %q", name)
	}
	return r.execute(t, data)
}
