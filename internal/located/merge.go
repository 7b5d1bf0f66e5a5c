package located

import (
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/count"
)

// merged lays over upon base as Helm merges values files: maps merge, anything
// else replaces. Neither is changed.
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

// MergeMaps lays b over a. As in Helm's and Flux's own, a map that only one has is shared with
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

// SetAt changes a map in place, as strvals does.
func SetAt(in *Value, steps []any, v *Value) {
	key, _ := steps[0].(string)
	in.Fields[key] = placedAt(in.Fields[key], steps[1:], v)
}

// placedAt is what stands at a place once v is set below it.
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
			// Only a list that grows is another one.
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

// Placed makes a value of plain Go values: what is as before keeps its place, the
// rest gets the place at.
func Placed(before *Value, plain any, at Place) *Value {
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

// Layers is values in layers, some of which may be unknown.
type Layers struct {
	// Value is all layers that are known, merged. sure is those above the last
	// unknown one: what it holds, no unknown layer changes.
	Value, Sure *Value
	// Files is value without what set gives Helm on its command line.
	Files   *Value
	Unknown []Unknown
	// Missing are the values files that don't exist.
	Missing []Text
	// Created are the elements of lists that the paths of set create.
	Created count.Lists
}

// Add merges a layer over those before it.
func (l *Layers) Add(v *Value) {
	l.Value, l.Sure = merged(l.Value, v), merged(l.Sure, v)
}

// AddUnknown adds a layer whose values are unknown.
func (l *Layers) AddUnknown(m Unknown) {
	l.Unknown = append(l.Unknown, m)
	l.Sure = EmptyMap(Place{})
}

// WithoutEmpty copies the maps of a value without fields that are empty.
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
