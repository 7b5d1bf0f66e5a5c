package k0rdent

// valueAt returns the value at a path of field names and list indexes, nil if there is none.
func valueAt(v any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}
