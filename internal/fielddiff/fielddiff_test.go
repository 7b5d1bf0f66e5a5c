package fielddiff

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/mask"
)

// TestWithout: a secret is hidden before the value is cut, and a plain word that is one only as a whole.
func TestWithout(t *testing.T) {
	var texts mask.Texts
	texts.Add("Summer2024!Berlin", `"hunter"`)
	f := Field{Path: "data.a", From: strings.Repeat("x", 95) + "Summer2024!Berlin", To: map[string]any{"a": "hunter", "b": []any{"the hunter"}}}.Without(texts.Without)
	var b strings.Builder
	f.Write(&b, "")
	if got := b.String(); strings.Contains(got, "Summer") || strings.Contains(got, `"hunter"`) || !strings.Contains(got, "the hunter") {
		t.Error(got)
	}
}
