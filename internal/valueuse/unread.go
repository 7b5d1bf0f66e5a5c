package valueuse

import (
	"maps"
	"slices"
	"strconv"
)

// Unread returns the paths of values that no template reads, as names and list indexes. Of nested values it returns only the
// uppermost, in the order of their names. It omits values that are null, and those that a template in the values may use.
func (r *Reads) Unread(values map[string]any) [][]any {
	w := walk{Reads: r, words: map[string]bool{}}
	noteAllIn(w.words, values)
	if w.words[everything] {
		return nil
	}
	maps.Copy(w.words, r.words)
	w.children(values, nil, nil, false)
	return w.found
}

// walk collects the unread values.
type walk struct {
	*Reads
	words map[string]bool
	found [][]any
}

// children walks the items of a value; counted is set if a template reads whether the value is empty, which depends on its items.
func (w *walk) children(v any, at path, shown []any, counted bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !w.words[key] {
				w.value(v[key], at.child(key), append(slices.Clone(shown), key), counted)
			}
		}
	case []any:
		for i, item := range v {
			w.value(item, at.child(anyStep), append(slices.Clone(shown), i), counted)
		}
	}
}

func (w *walk) value(v any, at path, shown []any, known bool) {
	if v == nil {
		return
	}
	_, isMap := v.(map[string]any)
	_, isList := v.([]any)
	counted := false
	for _, r := range w.reads {
		n := min(len(r.path), len(at))
		if !matches(r.path[:n], at[:n]) || len(r.path) < len(at) && r.how&whole == 0 {
			continue
		}
		if len(r.path) <= len(at) && r.how&whole != 0 {
			return
		}
		known = true
		counted = counted || len(r.path) == len(at) && r.how&truth != 0
	}
	switch {
	case !known:
		w.found = append(w.found, shown)
	case isMap, isList:
		w.children(v, at, shown, counted && !w.filled(at))
	}
}

// filled reports whether the chart's own values contain something at a path: then it is never empty, whatever the user sets.
func (r *Reads) filled(at path) bool {
	v, _ := r.defaultAt(at)
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return false // a list is replaced, not merged
	}
	return false
}

// defaultAt returns the value at a path in the charts' own values.
func (r *Reads) defaultAt(at path) (any, bool) {
	for _, d := range r.defaults {
		if len(at) < len(d.prefix) || !matches(at[:len(d.prefix)], d.prefix) {
			continue
		}
		if v, found := lookup(d.values, at[len(d.prefix):]); found {
			return v, true
		}
	}
	return nil, false
}

func lookup(v any, at []string) (any, bool) {
	for _, step := range at {
		fields, _ := v.(map[string]any)
		next, found := fields[step]
		if !found {
			return nil, false
		}
		v = next
	}
	return v, true
}

// Known returns the names of the values that a chart has, or that its templates read, in the same map as the value at a path.
func (r *Reads) Known(of []any) []string {
	at := pathIn(of)
	parent := at[:len(at)-1]
	names := map[string]bool{}
	for _, d := range r.defaults {
		if len(parent) >= len(d.prefix) && matches(parent[:len(d.prefix)], d.prefix) {
			v, _ := lookup(d.values, parent[len(d.prefix):])
			fields, _ := v.(map[string]any)
			for name := range fields {
				names[name] = true
			}
		}
	}
	for _, one := range r.reads {
		if len(one.path) > len(parent) && matches(one.path[:len(parent)], parent) {
			names[one.path[len(parent)]] = true
		}
	}
	delete(names, anyStep)
	return slices.Sorted(maps.Keys(names))
}

// pathIn converts a path; list indexes become anyStep.
func pathIn(of []any) path {
	at := path{}
	for _, step := range of {
		switch step := step.(type) {
		case string:
			at = append(at, step)
		case int:
			at = append(at, anyStep)
		default:
			at = append(at, strconv.Quote("?"))
		}
	}
	return at
}
