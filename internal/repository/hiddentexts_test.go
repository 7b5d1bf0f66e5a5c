package repository

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestLeading: what a Secret holds is hidden wherever a variable carries it, and no word or number by
// itself.
func TestLeading(t *testing.T) {
	for _, c := range []struct {
		name, value string
		ofSecret    bool
		want        string
	}{
		{"DB_PASSWORD", "kX9vbQ2mZ7pL4tR8", true, "kX9vbQ2mZ7pL4tR8 kx9vbq2mz7pl4tr8 KX9VBQ2MZ7PL4TR8"},
		{"CODE", "a1_B", true, "a1_B"},
		{"DB_PASSWORD", "hunter", true, `"hunter"`},
		{"DB_PASSWORD", "kX9vbQ2mZ7pL4tR8", false, "kX9vbQ2mZ7pL4tR8 kx9vbq2mz7pl4tr8 KX9VBQ2MZ7PL4TR8"},
		{"CLUSTER", "kX9vbQ2mZ7pL4tR8", false, ""},
		{"MODE", "production", true, ""},
		{"DB_PASSWORD", "true", true, ""},
		{"REPLICAS", "10000", true, ""},
		{"DOMAIN", "apps.example.org", true, ""},
		{"DB_PASSWORD", "${OTHER}", true, ""},
	} {
		if got := strings.Join(Leading(c.name, c.value, c.ofSecret), " "); got != c.want {
			t.Errorf("%s=%s: %s, want %s", c.name, c.value, got, c.want)
		}
	}
	l := &Lines{}
	l.Know([]string{"a1_B"})
	if got := l.Without("x a1_B y"); got != "x <hidden> y" {
		t.Error(got)
	}
	l.Know([]string{`"hunter"`})
	if got := l.Without(`hunter is "hunter", a1_B`); got != `hunter is <hidden>, <hidden>` {
		t.Error(got)
	}
}

func TestPlainNames(t *testing.T) {
	want := regexp.MustCompile(`^(?:[a-z]+(?:-[a-z]+)*|[{\[|>&][-+]?|[A-Z][a-z]+(?:[A-Z][a-z]+)*|[A-Z]+(?:_[A-Z]+)+)$`)
	random := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range 300_000 {
		var b strings.Builder
		for range random.IntN(7) {
			b.WriteByte("abABzZ-_{[|>&+1 \n"[random.IntN(17)])
		}
		value := b.String()
		if isPlainName(value) {
			found++
		}
		if isPlainName(value) != want.MatchString(value) {
			t.Fatalf("%q: got %v", value, isPlainName(value))
		}
	}
	if found < 1000 {
		t.Errorf("only %d plain names", found)
	}
}
