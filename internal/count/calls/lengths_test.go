package calls_test

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/count/calls"
)

// TestLengths: an expression that may create a string that is too long is refused before it runs, for the
// objects with which it may.
func TestLengths(t *testing.T) {
	env, err := cel.NewEnv(cel.OptionalTypes(), ext.Bindings())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expression string
		length     int // of the object's text
		ok         bool
	}{
		{"self.a.replace('-', '') == 'x'", 1 << 20, true},
		{"self.a.replace('-', '__') == 'x'", 1 << 20, true},
		{"self.a.replace('/', '~1').replace('~', '~0') == 'x'", 1 << 20, true},
		{"self.a.replace('a', self.a) == 'x'", 1_000, true},
		{"self.a.replace('a', self.a) == 'x'", 10_000, false},
		{"self.a.replace('', self.a).size() > 0", 45_000, false},
		{"self.a.replace('a', self.a).replace('a', self.a).size() > 0", 1_000, false},
		{"self.l.map(x, x.replace('a', self.a)).map(y, y.replace('a', self.a)).size() > 0", 1_000, false},
		{"cel.bind(x, self.a.replace('a', self.a), x.replace('a', self.a)).size() > 0", 1_000, false},
		{"[self.a.replace('a', self.a)][0].replace('a', self.a) == ''", 1_000, false},
		{"{'k': self.a.replace('a', self.a)}.k.replace('a', self.a) == ''", 1_000, false},
		{"(self.a + self.a).replace('', self.a + self.a) == ''", 3_000, false},
		{"'" + strings.Repeat("a", 6_000) + "'.replace('a', '" + strings.Repeat("a", 6_000) + "') == self.a", 1, false},
		{"(true ? self.a.replace('a', self.a) : '').replace('a', self.a) == ''", 1_000, false},
	} {
		parsed, issues := env.Parse(c.expression)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		var all calls.Calls
		if err := all.Add(parsed.NativeRep().Expr()); err != nil {
			t.Fatalf("%s: %v", c.expression, err)
		}
		err := all.Check(map[string]any{"a": strings.Repeat("a", c.length), "l": []any{"b"}}, &count.Steps{})
		if (err == nil) != c.ok {
			t.Errorf("%.80s with %d bytes: %v", c.expression, c.length, err)
		}
		if !calls.Mentioned(c.expression) {
			t.Errorf("%.80s is not read", c.expression)
		}
	}
}
