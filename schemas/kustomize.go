package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/api/types"
)

// isKustomize reports whether a kind is one of kustomize's own files.
func isKustomize(gvk schema.GroupVersionKind) bool {
	const group = "kustomize.config.k8s.io"
	return gvk.Group == group && (gvk.Version == "v1beta1" && gvk.Kind == types.KustomizationKind ||
		gvk.Version == "v1alpha1" && gvk.Kind == types.ComponentKind)
}

// kustomizeProblems checks a kustomization against kustomize's own types, as kustomize decodes it:
// unknown fields are errors, and the case of names is ignored.
func kustomizeProblems(object map[string]any) []Problem {
	var w kustomizeWalk
	w.walk(object, reflect.TypeFor[types.Kustomization](), nil)
	return w.problems
}

type kustomizeWalk struct{ problems []Problem }

func (w *kustomizeWalk) walk(value any, t reflect.Type, at []any) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil || t.Kind() == reflect.Interface ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if m, ok := value.(map[string]any); ok {
			w.fields(m, t, at)
			return
		}
		w.wrong(value, "object", at)
	case reflect.Map:
		if m, ok := value.(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(m)) {
				w.walk(m[k], t.Elem(), append(slices.Clone(at), k))
			}
			return
		}
		w.wrong(value, "object", at)
	case reflect.Slice:
		if list, ok := value.([]any); ok {
			for i, item := range list {
				w.walk(item, t.Elem(), append(slices.Clone(at), i))
			}
			return
		}
		w.wrong(value, "array", at)
	default:
		w.scalar(value, t, at)
	}
}

func (w *kustomizeWalk) scalar(value any, t reflect.Type, at []any) {
	_, text := value.(string)
	_, truth := value.(bool)
	_, integer := value.(int64)
	switch kind := t.Kind(); {
	case kind == reflect.String && !text:
		w.wrong(value, "string", at)
	case kind == reflect.Bool && !truth:
		w.wrong(value, "boolean", at)
	case kind >= reflect.Int && kind <= reflect.Uint64 && !integer:
		w.wrong(value, "integer", at)
	}
}

func (w *kustomizeWalk) wrong(value any, want string, at []any) {
	p := Problem{Kind: Invalid, Path: at,
		Message: fmt.Sprintf("%s must be %s, not %s", Field(at), typeName(want), typeOf(value))}
	if text, ok := value.(string); ok && isSubstituted(text) {
		p.Kind = Unresolved
	}
	w.problems = append(w.problems, p)
}

func (w *kustomizeWalk) fields(m map[string]any, t reflect.Type, at []any) {
	known := map[string]reflect.Type{}
	collectFields(t, known)
	names := slices.Sorted(maps.Keys(known))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		path := append(slices.Clone(at), k)
		field, ok := known[k]
		if !ok {
			for _, name := range names {
				if strings.EqualFold(name, k) {
					field, ok = known[name], true
				}
			}
		}
		if ok {
			w.walk(m[k], field, path)
			continue
		}
		in := "in " + Field(at)
		if len(at) == 0 {
			in = "at the top of a kustomization"
		}
		hint, _ := suggest(k, names)
		w.problems = append(w.problems, Problem{Kind: UnknownField, Path: path, Message: fmt.Sprintf("unknown field %q %s", k, in), Hint: hint})
	}
}

// collectFields adds a struct's fields by their JSON names, including those of embedded structs.
func collectFields(t reflect.Type, known map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			collectFields(inner, known)
		case !f.IsExported():
		case name == "":
			known[f.Name] = f.Type
		default:
			known[name] = f.Type
		}
	}
}
