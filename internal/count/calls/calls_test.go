package calls_test

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/count/calls"
)

func TestCalls(t *testing.T) {
	env, err := cel.NewEnv(cel.OptionalTypes())
	if err != nil {
		t.Fatal(err)
	}
	const huge, ordinary = "1e-999999999", "500m"
	large := strings.Repeat("(a{1000})", 100)
	for _, c := range []struct {
		expression string
		text       string // of the object
		added, ok  bool
	}{
		{"self.a == 'x' && self.b + 'y' == 'z'", huge, true, true},
		{"quantity(self.a).isGreaterThan(quantity('1'))", ordinary, true, true},
		{"quantity(self.a).isGreaterThan(quantity('1'))", huge, true, false},
		{"isQuantity(self.a)", huge, true, false},
		{"quantity('1e-999999999') == self.a", ordinary, false, false},
		{"quantity(self.a == 'x' ? '1e-999999999' : '1') == self.a", ordinary, false, false},
		{"quantity(self.a.substring(1)) == self.b", "x" + huge + "y", true, false},
		{"quantity(self.a + self.b) == self.a", ordinary, false, false},
		{"quantity(self.a + 'Gi') == self.a", ordinary, false, false},
		{"quantity(self.a.replace('x', 'e')) == self.a", ordinary, false, false},
		{"self.list.all(x, quantity(x.a).compareTo(quantity('1')) < 0 && self.n + 1 > 2)", ordinary, true, true},
		{"self.a.matches('^[a-z]+$')", large, true, true},
		{"self.a.matches('" + large + "')", ordinary, false, false},
		{"matches(self.a, '" + large + "')", ordinary, false, false},
		{"self.a.find('" + large + "') == ''", ordinary, false, false},
		{"'aaa'.matches(self.a)", "^[a-z]{1,63}$", true, true},
		{"'aaa'.matches(self.a)", large, true, false},
		{"'aaa'.matches(self.a + self.b)", ordinary, false, false},
		{"self.a.matches('^(a?){900}(b?){900}$')", strings.Repeat("a", 1000), true, true},
		{"self.a.matches('^(a?){900}(b?){900}$')", strings.Repeat("a", 100_000), true, false},
	} {
		parsed, issues := env.Parse(c.expression)
		if issues.Err() != nil {
			t.Fatal(c.expression, issues.Err())
		}
		var passed calls.Calls
		if err := passed.Add(parsed.NativeRep().Expr()); (err == nil) != c.added {
			t.Errorf("%.80s: %v", c.expression, err)
			continue
		}
		if !c.added {
			continue
		}
		object := map[string]any{"a": c.text, "n": int64(1), "list": []any{map[string]any{"a": c.text}}}
		if err := passed.Check(object, &count.Steps{}); (err == nil) != c.ok {
			t.Errorf("%.80s with %.20q: %v", c.expression, c.text, err)
		}
	}
}
