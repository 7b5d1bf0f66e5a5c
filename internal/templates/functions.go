package templates

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"github.com/fleetwright/fleetwright/internal/located"
)

// pureFunctions are the functions of sprig that are evaluated: they are deterministic, have no side
// effect, and the size of their results is limited by their arguments.
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

// freeFunctions are the functions of sprig that create results far larger than their arguments: at once, which is counted
// before ([count.Created]), or step by step, which [rendering.take] counts.
var freeFunctions = []string{
	"indent", "join", "mustUniq", "mustWithout", "nindent", "regexFind", "regexFindAll", "regexMatch", "regexReplaceAll",
	"regexReplaceAllLiteral", "regexSplit", "repeat", "replace", "uniq", "until", "untilStep", "without", "wrap", "wrapWith",
}

// bind returns the functions of helmfile's templates by name.
func (r *rendering) bind() template.FuncMap {
	all := sprig.TxtFuncMap()
	out := template.FuncMap{}
	for name := range all {
		out[name] = r.refused(name)
	}
	for name, f := range all {
		if slices.Contains(pureFunctions, name) || slices.Contains(freeFunctions, name) {
			out[name] = r.guard(name, f)
		}
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

// helmfileFunctions returns helmfile's own functions (pkg/tmpl/context_funcs.go, v1.8.0).
func (r *rendering) helmfileFunctions() template.FuncMap {
	own := template.FuncMap{
		"readFile":       r.readFile,
		"exec":           r.exec,
		"expandenv":      r.expanded,
		"readDir":        r.readDir,
		"isFile":         r.isFile,
		"isDir":          r.isDir,
		"fromYaml":       r.fromYAML,
		"toYaml":         ToYAML,
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

// builtins returns the functions of the template package, guarded in the same way, and the
// functions that rewrite adds.
func (r *rendering) builtins() template.FuncMap {
	all := template.FuncMap{
		"printf":          r.guard("printf", r.formatted),
		"print":           r.guard("print", fmt.Sprint),
		"println":         r.guard("println", fmt.Sprintln),
		"html":            r.guard("html", template.HTMLEscaper),
		"js":              r.guard("js", template.JSEscaper),
		"urlquery":        r.guard("urlquery", template.URLQueryEscaper),
		"eq":              r.guard("eq", r.equalAny),
		"ne":              r.guard("ne", r.unequal),
		"not":             r.not,
		"call":            r.refused("call"),
		conditionFunction: r.condition,
		loopFunction: func(v any) (any, error) {
			if _, err := r.condition(v); err != nil {
				return nil, err
			}
			return v, r.steps.add(iterations(v))
		},
	}
	for _, name := range []string{"len", "index", "lt", "le", "gt", "ge"} {
		all[name] = r.guard(name, builtin(name))
	}
	return all
}

// refused returns a function that is not evaluated: its result is a mark.
func (r *rendering) refused(name string) any {
	return func(...any) string {
		return r.Mark(located.Unknown{Reason: fmt.Sprintf("the template calls %s, which is not run here", name)})
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
		return r.Mark(environmentMark(name+" "+strconv.Quote(variable), variable))
	}
}

// environmentMark returns the unknown value of an environment variable that a function reads.
func environmentMark(reader, variable string) located.Unknown {
	return located.Unknown{Reason: "the template reads the environment: " + reader, Variable: variable}
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
