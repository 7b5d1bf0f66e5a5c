package nearest

import (
	"strings"
	"testing"
)

func TestTo(t *testing.T) {
	for _, c := range []struct{ name, names, want string }{
		{"prdo", "prod staging", "prod"},       // two letters changed places
		{"stagng", "prod staging", "staging"},  // one is left out
		{"Staging", "prod staging", "staging"}, // another case
		{"prod", "a prod prof", "prod"},        // itself
		{"prof", "proa prob", "proa"},          // the first of equals
		{"a", "b c", ""},                       // nothing is like a single letter
		{"billing", "web mail", ""},            // too far
		{"", "a", ""},                          // no name
		{strings.Repeat("x", 100), "x", ""},    // long names
		{"kustomizaton", "Kustomization", "Kustomization"},
	} {
		got, ok := To(c.name, strings.Fields(c.names))
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q among %s: got %q, %v, want %q", c.name, c.names, got, ok, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"ab", "ba", 1},
		{"ca", "abc", 3}, // optimal string alignment: Damerau's own distance is 2
		{"kitten", "sitting", 3}, {strings.Repeat("a", 64) + "b", strings.Repeat("a", 64) + "c", 0},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
