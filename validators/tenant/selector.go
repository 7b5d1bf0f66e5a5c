package tenant

import "slices"

// selects reports whether a label selector selects labels.
func selects(selector, of any) bool {
	s, _ := selector.(map[string]any)
	labels, _ := of.(map[string]any)
	want, _ := s["matchLabels"].(map[string]any)
	for k, v := range want {
		if value, there := labels[k]; !there || value != v {
			return false
		}
	}
	expressions, _ := s["matchExpressions"].([]any)
	for _, e := range expressions {
		e, _ := e.(map[string]any)
		key, _ := e["key"].(string)
		values, _ := e["values"].([]any)
		value, there := labels[key]
		ok := false
		switch e["operator"] {
		case "In":
			ok = there && slices.Contains(values, value)
		case "NotIn":
			ok = !there || !slices.Contains(values, value)
		case "Exists":
			ok = there
		case "DoesNotExist":
			ok = !there
		}
		if !ok {
			return false
		}
	}
	return true
}
