package located

import (
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/finding"
)

// merged merges over into base as Helm merges values files: maps are merged, all other values
// are replaced. It changes neither argument.
func merged(base, over *Value) *Value {
	if base == nil || !base.IsMap || !over.IsMap {
		return over
	}
	out := &Value{Place: over.Place, IsMap: true, Fields: maps.Clone(base.Fields)}
	for key, v := range over.Fields {
		if before, both := out.Fields[key]; both {
			v = merged(before, v)
		}
		out.Fields[key] = v
	}
	return out
}

// MergeMaps merges b into a. As in Helm's and Flux's own functions, a map that only one of them contains is shared with
// the result.
func MergeMaps(a, b *Value) *Value {
	out := &Value{Place: b.Place, IsMap: true, Fields: maps.Clone(a.Fields)}
	if len(b.Fields) == 0 {
		out.Place = a.Place
	}
	for key, v := range b.Fields {
		if before := out.Fields[key]; IsMap(before) && IsMap(v) {
			v = MergeMaps(before, v)
		}
		out.Fields[key] = v
	}
	return out
}

// SetAt sets a value at a path in a map, as Helm's strvals does. It changes the map.
func SetAt(in *Value, steps []any, v *Value) {
	key, _ := steps[0].(string)
	in.Fields[key] = placedAt(in.Fields[key], steps[1:], v)
}

// placedAt returns a value after v was set at a path below it.
func placedAt(before *Value, steps []any, v *Value) *Value {
	if len(steps) == 0 {
		return v
	}
	switch step := steps[0].(type) {
	case string:
		if !IsMap(before) {
			before = EmptyMap(v.Place)
		}
		SetAt(before, steps, v)
		return before
	case int:
		out := before
		if !IsList(before) || len(before.Items) <= step {
			// A list is copied only if it grows.
			out = &Value{Place: v.Place, IsList: true}
			if IsList(before) {
				out.Place, out.Items = before.Place, slices.Clone(before.Items)
			}
			for len(out.Items) <= step {
				out.Items = append(out.Items, &Value{Place: v.Place})
			}
		}
		out.Items[step] = placedAt(out.Items[step], steps[1:], v)
		return out
	}
	return before
}

// Placed returns the value for plain Go values: parts that are unchanged since before keep their place, all
// others get the place at.
func Placed(before *Value, plain any, at finding.Place) *Value {
	switch plain := plain.(type) {
	case map[string]any:
		out := EmptyMap(at)
		if before != nil && before.IsMap {
			out.Place = before.Place
		}
		for k, v := range plain {
			out.Fields[k] = Placed(before.At(k), v, at)
		}
		return out
	case []any:
		out := &Value{Place: at, IsList: true}
		for i, v := range plain {
			var old *Value
			if before != nil && before.IsList && i < len(before.Items) {
				old = before.Items[i]
				out.Place = before.Place
			}
			out.Items = append(out.Items, Placed(old, v, at))
		}
		return out
	}
	if before != nil && !before.IsMap && !before.IsList && sameScalar(before.Scalar, plain) {
		return before
	}
	return &Value{Place: at, Scalar: plain}
}

// Layers are values merged from layers, some of which may be unknown.
type Layers struct {
	// Value contains all known layers, merged. Sure contains the layers above the last
	// unknown one: no unknown layer changes its values.
	Value, Sure *Value
	// Files is Value without the values of set, which helmfile passes to Helm on its command line.
	Files   *Value
	Unknown []Unknown
	// Missing are the values files that don't exist.
	Missing []Text
	// Created counts the list elements that the paths of set create.
	Created count.Lists
}

// Add merges a layer over the previous ones.
func (l *Layers) Add(v *Value) {
	l.Value, l.Sure = merged(l.Value, v), merged(l.Sure, v)
}

// AddUnknown adds a layer whose values are unknown.
func (l *Layers) AddUnknown(m Unknown) {
	l.Unknown = append(l.Unknown, m)
	l.Sure = EmptyMap(finding.Place{})
}

// WithoutEmpty returns a copy of a value's maps without empty fields.
func WithoutEmpty(v *Value) *Value {
	if !IsMap(v) {
		return v
	}
	out := *v
	out.Fields = make(map[string]*Value, len(v.Fields))
	for key, field := range v.Fields {
		switch kept := WithoutEmpty(field); {
		case kept.IsMap && len(kept.Fields) == 0, kept.IsList && len(kept.Items) == 0:
		case !kept.IsMap && !kept.IsList && kept.Unknown == nil && (kept.Scalar == nil || kept.Scalar == ""):
		default:
			out.Fields[key] = kept
		}
	}
	return &out
}
