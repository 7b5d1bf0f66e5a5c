// Package fielddiff contains the fields in which two objects differ, as reports print them.
package fielddiff

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// Field is a field that differs. Its value is null on a side that lacks the field.
type Field struct {
	Path string `json:"path"`
	From any    `json:"from"`
	To   any    `json:"to"`
}

// Of returns the fields of a comparison; never nil.
func Of(fields []reconcile.FieldDiff) []Field {
	all := make([]Field, 0, len(fields))
	for _, f := range fields {
		all = append(all, Field{Path: schemas.Field(f.Path), From: f.From, To: f.To})
	}
	return all
}

// Without returns the field with its secrets hidden. It hides them before long values are cut, as a cut secret would not be
// recognised.
func (f Field) Without(hide func(text string) string) Field {
	f.From, f.To = without(f.From, hide), without(f.To, hide)
	return f
}

func without(value any, hide func(text string) string) any {
	switch value := value.(type) {
	case string:
		if hide(strconv.Quote(value)) == mask.Hidden {
			return mask.Masked(mask.Hidden)
		}
		return hide(value)
	case map[string]any:
		shown := make(map[string]any, len(value))
		for key, item := range value {
			shown[hide(key)] = without(item, hide)
		}
		return shown
	case []any:
		shown := make([]any, len(value))
		for i, item := range value {
			shown[i] = without(item, hide)
		}
		return shown
	}
	return value
}

// Write prints the field with both values on a line of its own, after an indent.
func (f Field) Write(w io.Writer, indent string) {
	_ = output.Printf(w, indent+"%s: %s → %s\n", f.Path, output.Paint(output.Red, shown(f.From)), output.Paint(output.Green, shown(f.To)))
}

// shown returns a value on one line, shortened and without terminal escapes.
func shown(value any) string {
	const most = 100
	if value == nil {
		return "(none)"
	}
	if text, ok := value.(mask.Masked); ok {
		return string(text)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	text := []rune(strings.TrimSpace(b.String()))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
