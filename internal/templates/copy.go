package templates

func Copied(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = CopyValue(v)
	}
	return out
}

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
