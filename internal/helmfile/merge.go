package helmfile

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/templates"
)

// mergedMaps lays over upon base as helmfile merges values of environments: a
// null doesn't replace what is there, and a list with a null in it merges by
// position (pkg/maputil.MergeMaps). Neither is changed.
func mergedMaps(base, over map[string]any) map[string]any {
	out := templates.Copied(base)
	for k, v := range over {
		before, has := out[k]
		switch v := v.(type) {
		case nil:
			if !has {
				out[k] = nil
			}
			continue
		case map[string]any:
			if m, both := before.(map[string]any); both {
				out[k] = mergedMaps(m, v)
				continue
			}
			out[k] = templates.Copied(v)
			continue
		case []any:
			if list, both := before.([]any); both {
				out[k] = mergedLists(list, v)
				continue
			}
		}
		out[k] = templates.CopyValue(v)
	}
	return out
}

func mergedLists(base, over []any) []any {
	sparse := false
	for _, v := range over {
		sparse = sparse || v == nil
	}
	if !sparse {
		return templates.CopyValue(over).([]any)
	}
	out := make([]any, max(len(base), len(over)))
	copy(out, base)
	for i, v := range over {
		m, isMap := v.(map[string]any)
		before, both := out[i].(map[string]any)
		switch {
		case v == nil:
		case isMap && both:
			out[i] = mergedMaps(before, m)
		default:
			out[i] = templates.CopyValue(v)
		}
	}
	return out
}

func mergeList[T any](a, b []T, appending bool) []T {
	switch {
	case len(b) == 0:
		return a
	case appending:
		return slices.Concat(a, b)
	}
	return b
}
