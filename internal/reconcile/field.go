package reconcile

import (
	"maps"
	"slices"
	"strings"
)

// Field returns the value at a path (field names and list indexes) of the object, nil if there is none.
func (o *Object) Field(path ...any) any {
	var at any = o.Value
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := at.(map[string]any)
			at = fields[step]
		case int:
			list, _ := at.([]any)
			if step < 0 || step >= len(list) {
				return nil
			}
			at = list[step]
		default:
			return nil
		}
	}
	return at
}

// Text returns the string at a path of the object, "" if there is none.
func (o *Object) Text(path ...any) string {
	text, _ := o.Field(path...).(string)
	return text
}

// List returns the list at a path of the object, nil if there is none.
func (o *Object) List(path ...any) []any {
	list, _ := o.Field(path...).([]any)
	return list
}

// Label returns the value of a label of the object, "" if it has none.
func (o *Object) Label(name string) string { return o.Text("metadata", "labels", name) }

// Holding returns the path of the first string in a value that contains another string; nil if there is none.
func Holding(value any, what string) []any {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if s, ok := value[name].(string); ok && strings.Contains(s, what) {
				return []any{name}
			}
			if rest := Holding(value[name], what); rest != nil {
				return append([]any{name}, rest...)
			}
		}
	case []any:
		for i, item := range value {
			if s, ok := item.(string); ok && strings.Contains(s, what) {
				return []any{i}
			}
			if rest := Holding(item, what); rest != nil {
				return append([]any{i}, rest...)
			}
		}
	}
	return nil
}
