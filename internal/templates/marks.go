package templates

import (
	"crypto/sha256"
	"fmt"
	"github.com/fleetwright/fleetwright/internal/located"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A mark in a text is a number in private use characters, so that no text that a
// person wrote looks like one, no pattern for digits or letters changes one, and
// YAML and JSON pass it through.
const (
	MarkOpen, markClose = "\ue0f7", "\ue0f8"
	markZero            = '\ue100' // and nine more
)

// Mark returns the text that stands for a value that cannot be computed.
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

// Marked returns the first mark in a text.
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
			return located.Unknown{Reason: "the text around an unknown value is cut"}, true
		}
	}
	if number == "" {
		return located.Unknown{Reason: "the text around an unknown value is cut"}, true
	}
	return e.marks[i], true
}

// wholly says whether a text is nothing but marks.
func wholly(s string) bool {
	return strings.HasPrefix(s, MarkOpen) && anyMark.ReplaceAllString(s, "") == ""
}

var anyMark = regexp.MustCompile(MarkOpen + `[\x{e100}-\x{e109}]*` + markClose)

// unescapedMarks undoes what quoting makes of marks.
var unescapedMarks = func() *strings.Replacer {
	pairs := []string{`\ue0f7`, MarkOpen, `\ue0f8`, markClose}
	for i := range 10 {
		pairs = append(pairs, fmt.Sprintf(`\ue10%d`, i), string(rune(markZero+i)))
	}
	return strings.NewReplacer(pairs...)
}()

// HoldsMark says whether some text in a value has a mark.
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

// negated is the mark of a condition's contrary.
func negated(m located.Unknown) located.Unknown {
	m.Negated = !m.Negated
	return m
}

// derived is the mark of what a function makes of a mark: another value, for the same reason.
func (e *Engine) derived(m located.Unknown, function string, args ...any) string {
	m.Variable, m.Negated = "", false
	m.Expression = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf([]byte(function+" "+m.Expression), "%#v", args)))
	return e.Mark(m)
}

// MarkedIn finds what could not be computed in a value.
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

// MarkedKey finds what could not be computed in the keys of a value.
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
