package bootstrap

import (
	"strings"
	"testing"
)

// Two long values that begin alike are shown from where they differ.
func TestTexts(t *testing.T) {
	side := func(value any) Side { return Side{Value: value} }
	long := strings.Repeat("a long beginning ", 10)
	for _, c := range []struct {
		name     string
		a, b     any
		one, two string
	}{
		{"short", "a", "b", "a", "b"},
		{"one is not set", nil, "b", "(not set)", "b"},
		{"the ends differ", long + "x", long + "y", "…ng a long beginning x", "…ng a long beginning y"},
		{"the beginnings differ", "x" + long, "y" + long, cut("x" + long), cut("y" + long)},
		{"one goes on", long, long + "more", "…ng a long beginning ", "…ng a long beginning more"},
		{"the same", long, long, cut(long), cut(long)},
		{"lists", []any{long, 1}, []any{long, 2}, "… a long beginning \",1]", "… a long beginning \",2]"},
	} {
		d := Difference{Bootstrap: side(c.a), Git: side(c.b)}
		if one, two := d.Texts(); one != c.one || two != c.two {
			t.Errorf("%s: got %q and %q", c.name, one, two)
		}
	}
}
