package helmrelease

import (
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
)

// merging merges values as Flux does: all contains every known layer, sure only the layers above
// the last unknown one.
type merging struct {
	all, sure *mergedValues
	unknown   []located.Unknown
	// created counts the list elements that targetPaths create.
	created count.Lists
}

// mergedValues are values during merging; the inline values are merged over value.
type mergedValues struct{ value, inline *located.Value }

func newMerging(at finding.Place, inline *located.Value) *merging {
	if inline == nil || !inline.IsMap {
		inline = located.EmptyMap(at)
	}
	return &merging{all: &mergedValues{located.EmptyMap(at), inline.Clone()}, sure: &mergedValues{located.EmptyMap(at), inline.Clone()}}
}

func (m *merging) layer(v *located.Value) {
	for _, each := range []*mergedValues{m.all, m.sure} {
		each.value = located.MergeMaps(each.value, v.Clone())
	}
}

func (m *merging) unknownLayer(because located.Unknown) {
	m.unknown = append(m.unknown, because)
	m.sure.value = located.EmptyMap(finding.Place{})
}

// set sets a value at a path; steps are field names (string) and indexes (int).
func (m *merging) set(steps []any, v *located.Value) {
	for _, each := range []*mergedValues{m.all, m.sure} {
		each.value = located.MergeMaps(each.value, each.inline)
		located.SetAt(each.value, steps, v)
	}
}

func (m *merging) done() located.Layers {
	return located.Layers{Value: located.MergeMaps(m.all.value, m.all.inline), Sure: located.MergeMaps(m.sure.value, m.sure.inline), Unknown: m.unknown}
}

// targetSteps parses a path as Helm's --set does: field names separated by dots (a dot in a name is escaped with a
// backslash) and indexes in brackets.
func targetSteps(target string) (steps []any, ok bool) {
	var name strings.Builder
	flush := func() {
		if name.Len() > 0 {
			steps = append(steps, name.String())
			name.Reset()
		}
	}
	for i := 0; i < len(target); i++ {
		switch c := target[i]; c {
		case '\\':
			if i++; i == len(target) {
				return nil, false
			}
			name.WriteByte(target[i])
		case '.':
			flush()
		case '[':
			flush()
			digits, _, closed := strings.Cut(target[i+1:], "]")
			index := indexOf(digits)
			if !closed || index < 0 || index > 1000 || len(steps) == 0 {
				return nil, false
			}
			steps = append(steps, index)
			i += len(digits) + 1
		case ']', '{', '}', ',', '=', '$':
			return nil, false
		default:
			name.WriteByte(c)
		}
	}
	flush()
	return steps, len(steps) > 0
}

// indexOf parses a list index; it returns -1 if the string is not an index.
func indexOf(key string) int {
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 {
		return -1
	}
	return i
}
