package platform

import (
	"fmt"
	"maps"
	"slices"
)

// Selects reports whether a label selector, as a decoded YAML value, selects labels. An empty one selects all.
func Selects(selector any, labels map[string]any) bool {
	s, _ := selector.(map[string]any)
	match, _ := s["matchLabels"].(map[string]any)
	for key, value := range match {
		if got, has := labels[key].(string); !has || got != value {
			return false
		}
	}
	for _, e := range expressionsOf(s) {
		value, has := labels[e.key].(string)
		in := slices.Contains(e.values, any(value))
		if ok, known := map[string]bool{"In": has && in, "NotIn": !has || !in, "Exists": has, "DoesNotExist": !has}[e.operator]; known && !ok {
			return false
		}
	}
	return true
}

// expression is an entry of matchExpressions.
type expression struct {
	key, operator string
	values        []any
}

func expressionsOf(selector map[string]any) []expression {
	list, _ := selector["matchExpressions"].([]any)
	out := make([]expression, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		e := expression{}
		e.key, _ = m["key"].(string)
		e.operator, _ = m["operator"].(string)
		e.values, _ = m["values"].([]any)
		out = append(out, e)
	}
	return out
}

// IsEmpty reports whether a label selector has no requirement.
func IsEmpty(selector any) bool {
	s, _ := selector.(map[string]any)
	match, _ := s["matchLabels"].(map[string]any)
	return len(match) == 0 && len(expressionsOf(s)) == 0
}

// Keys returns the sorted names of the labels that a selector uses.
func Keys(selector any) []string {
	s, _ := selector.(map[string]any)
	match, _ := s["matchLabels"].(map[string]any)
	keys := slices.Collect(maps.Keys(match))
	for _, e := range expressionsOf(s) {
		keys = append(keys, e.key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Nothing returns the reason why a selector can match no labels, or why controllers reject it (apimachinery,
// labels.NewRequirement); "" if it can match. Values with variables are not checked.
func Nothing(selector any) string {
	s, _ := selector.(map[string]any)
	wanted := map[string]*requirement{}
	of := func(key string) *requirement {
		if wanted[key] == nil {
			wanted[key] = &requirement{not: map[string]bool{}}
		}
		return wanted[key]
	}
	match, _ := s["matchLabels"].(map[string]any)
	for key, value := range match {
		of(key).only([]any{value})
	}
	for _, e := range expressionsOf(s) {
		switch {
		case Unknown(e.key + e.operator):
		case e.operator == "In" || e.operator == "NotIn":
			if len(e.values) == 0 {
				return fmt.Sprintf("%s of %q has no values", e.operator, e.key)
			}
		case e.operator == "Exists" || e.operator == "DoesNotExist":
			if len(e.values) > 0 {
				return fmt.Sprintf("%s of %q has values", e.operator, e.key)
			}
		default:
			return fmt.Sprintf("operator %q does not exist", e.operator)
		}
		of(e.key).add(e)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if wanted[key].impossible() {
			return fmt.Sprintf("its conditions for %q exclude each other", key)
		}
	}
	return ""
}

// requirement collects the conditions of a selector for one label.
type requirement struct {
	// is are the values that the label may have, nil for any.
	is             map[string]bool
	not            map[string]bool
	exists, absent bool
	// open reports whether one of the values is unknown.
	open bool
}

func (r *requirement) only(values []any) {
	left := map[string]bool{}
	for _, v := range values {
		text, isText := v.(string)
		if r.open = r.open || !isText || Unknown(text); r.open {
			return
		}
		if r.is == nil || r.is[text] {
			left[text] = true
		}
	}
	r.is, r.exists = left, true
}

func (r *requirement) add(e expression) {
	switch e.operator {
	case "In":
		r.only(e.values)
	case "NotIn":
		for _, v := range e.values {
			if text, isText := v.(string); isText {
				r.not[text] = true
			}
		}
	case "Exists":
		r.exists = true
	case "DoesNotExist":
		r.absent = true
	}
}

// impossible reports whether neither a value nor the absence of the label fulfils the conditions.
func (r *requirement) impossible() bool {
	if r.exists && r.absent {
		return true
	}
	if r.is == nil || r.open {
		return false
	}
	for v := range r.is {
		if !r.not[v] {
			return false
		}
	}
	return true
}
