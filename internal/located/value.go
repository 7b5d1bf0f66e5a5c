package located

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// Value is a Helm value with the place where it is written.
type Value struct {
	finding.Place
	// A value is a map (Fields), a list (Items), or a scalar (nil, bool, string, int64,
	// uint64, float64).
	Fields map[string]*Value
	Items  []*Value
	Scalar any
	// IsMap and IsList distinguish an empty map or list from a null scalar.
	IsMap, IsList bool
	// Substituted is set if Flux computes the scalar from a string with variables. Spelled is the
	// resulting string. Unknown is why it cannot be computed offline; then Scalar is the string as
	// written.
	Substituted bool
	Spelled     string
	Unknown     *Unknown
	// Patched is set if a kustomize patch sets the value, Referred if it comes from
	// valuesFrom, and Secret if it comes from a Secret.
	Patched, Referred, Secret bool
}

// EmptyMap returns an empty map.
func EmptyMap(at finding.Place) *Value {
	return &Value{Place: at, IsMap: true, Fields: map[string]*Value{}}
}

// Plain converts the value to plain Go values.
func (v *Value) Plain() any {
	switch {
	case v == nil:
		return nil
	case v.IsMap:
		m := make(map[string]any, len(v.Fields))
		for k, f := range v.Fields {
			m[k] = f.Plain()
		}
		return m
	case v.IsList:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = item.Plain()
		}
		return list
	}
	return v.Scalar
}

// Keys returns the keys of a map, sorted.
func (v *Value) Keys() []string { return slices.Sorted(maps.Keys(v.Fields)) }

// At returns the value at a path of field names, nil if there is none.
func (v *Value) At(path ...string) *Value {
	for _, key := range path {
		if v == nil {
			return nil
		}
		v = v.Fields[key]
	}
	return v
}

// Item returns an item of a list, nil if there is none.
func (v *Value) Item(i int) *Value {
	if v == nil || i >= len(v.Items) {
		return nil
	}
	return v.Items[i]
}

// Walk calls f for each scalar, with its path as "a.b[0]".
func (v *Value) Walk(path string, f func(path string, v *Value)) {
	switch {
	case v.IsMap:
		for _, k := range v.Keys() {
			v.Fields[k].Walk(JoinPath(path, k), f)
		}
	case v.IsList:
		for i, item := range v.Items {
			item.Walk(path+"["+strconv.Itoa(i)+"]", f)
		}
	default:
		f(path, v)
	}
}

// MapScalars returns a copy in which f replaced each scalar.
func (v *Value) MapScalars(f func(*Value) *Value) *Value {
	switch {
	case v.IsMap:
		out := &Value{Place: v.Place, IsMap: true, Fields: make(map[string]*Value, len(v.Fields))}
		for k, field := range v.Fields {
			out.Fields[k] = field.MapScalars(f)
		}
		return out
	case v.IsList:
		out := &Value{Place: v.Place, IsList: true}
		for _, item := range v.Items {
			out.Items = append(out.Items, item.MapScalars(f))
		}
		return out
	}
	return f(v)
}

// JoinPath adds a key to a field path; a key with a dot is quoted.
func JoinPath(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\" ") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Clone returns a deep copy of a value.
func (v *Value) Clone() *Value {
	out := *v
	if v.IsMap {
		out.Fields = make(map[string]*Value, len(v.Fields))
		for key, field := range v.Fields {
			out.Fields[key] = field.Clone()
		}
	}
	out.Items = nil
	for _, item := range v.Items {
		out.Items = append(out.Items, item.Clone())
	}
	return &out
}

// Each calls f for a value and each of its parts.
func (v *Value) Each(f func(*Value)) {
	f(v)
	for _, field := range v.Fields {
		field.Each(f)
	}
	for _, item := range v.Items {
		item.Each(f)
	}
}
