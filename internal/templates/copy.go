package templates

// Copied returns a deep copy of a mapping.
func Copied(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = CopyValue(v)
	}
	return out
}

// CopyValue returns a deep copy of a value: its mappings and lists are copied.
func CopyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return Copied(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = CopyValue(item)
		}
		return out
	}
	return v
}
