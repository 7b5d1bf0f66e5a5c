package templates

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// A mark in a string is a number in private use characters. No text that a person wrote contains
// such characters, no pattern for digits or letters changes them, and YAML and JSON keep them.
const (
	MarkOpen, markClose = "\ue0f7", "\ue0f8"
	markZero            = '\ue100' // the first of ten digits
)

// Mark returns the string that replaces an unknown value.
func (e *Engine) Mark(m located.Unknown) string {
	e.seen++
	i, known := e.index[m]
	if !known {
		i = len(e.marks)
		e.marks = append(e.marks, m)
		e.index[m] = i
	}
	var b strings.Builder
	b.WriteString(MarkOpen)
	for _, digit := range strconv.Itoa(i) {
		b.WriteRune(markZero + digit - '0')
	}
	b.WriteString(markClose)
	return b.String()
}

// Marked returns the unknown value of the first mark in a string.
func (e *Engine) Marked(s string) (located.Unknown, bool) {
	_, rest, found := strings.Cut(s, MarkOpen)
	if !found {
		return located.Unknown{}, false
	}
	e.seen++
	number, _, _ := strings.Cut(rest, markClose)
	i := 0
	for _, digit := range number {
		if i = i*10 + int(digit-markZero); digit < markZero || digit > markZero+9 || i >= len(e.marks) {
			return located.Unknown{Reason: "a template uses only a part of an unknown value"}, true
		}
	}
	if number == "" {
		return located.Unknown{Reason: "a template uses only a part of an unknown value"}, true
	}
	return e.marks[i], true
}

// onlyMarks reports whether a string consists only of marks.
func onlyMarks(s string) bool {
	return strings.HasPrefix(s, MarkOpen) && anyMark.ReplaceAllString(s, "") == ""
}

var anyMark = regexp.MustCompile(MarkOpen + `[\x{e100}-\x{e109}]*` + markClose)

// unescapedMarks reverts the escapes that quoting adds to marks.
var unescapedMarks = func() *strings.Replacer {
	pairs := []string{`\ue0f7`, MarkOpen, `\ue0f8`, markClose}
	for i := range 10 {
		pairs = append(pairs, fmt.Sprintf(`\ue10%d`, i), string(rune(markZero+i)))
	}
	return strings.NewReplacer(pairs...)
}()

// HoldsMark reports whether a string in a value contains a mark.
func HoldsMark(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, MarkOpen)
	case map[string]any:
		for key, item := range v {
			if strings.Contains(key, MarkOpen) || HoldsMark(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, HoldsMark)
	}
	return false
}

func hasMark(v any) bool {
	s, ok := v.(string)
	return ok && strings.Contains(s, MarkOpen)
}

// derived returns the mark for the result of a function on an unknown value: a different value, with the same reason.
func (e *Engine) derived(m located.Unknown) string {
	m.Variable = ""
	return e.Mark(m)
}

// MarkedIn returns the first unknown value in a value.
func (e *Engine) MarkedIn(v *located.Value) (found located.Unknown, is bool) {
	if v == nil {
		return located.Unknown{}, false
	}
	v.Walk("", func(_ string, s *located.Value) {
		if t, ok := s.Scalar.(string); ok && !is {
			found, is = e.Marked(t)
		}
	})
	return found, is
}

// MarkedKey returns the first unknown value in the keys of a value.
func (e *Engine) MarkedKey(v *located.Value) (located.Unknown, bool) {
	for _, key := range v.Keys() {
		if m, bad := e.Marked(key); bad {
			return m, true
		}
		if m, bad := e.MarkedKey(v.Fields[key]); bad {
			return m, true
		}
	}
	for _, item := range v.Items {
		if m, bad := e.MarkedKey(item); bad {
			return m, true
		}
	}
	return located.Unknown{}, false
}

// Marks returns the marks that the engine has created, for Restore.
func (e *Engine) Marks() []located.Unknown { return slices.Clip(e.marks) }

// Restore adds the marks of another engine to a new one, so that it understands values that contain them.
func (e *Engine) Restore(marks []located.Unknown) {
	e.marks = marks
	for i, m := range marks {
		e.index[m] = i
	}
}
