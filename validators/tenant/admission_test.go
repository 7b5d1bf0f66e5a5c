package tenant

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// A literal that is hoisted means the same: each expression gives the same with and
// without.
func TestHoist(t *testing.T) {
	t.Parallel()
	e, err := newEvaluator()
	if err != nil {
		t.Fatal(err)
	}
	input := map[string]any{"object": map[string]any{"spec": map[string]any{"url": `https://a/b"c\d'e`}, "n": int64(3)}}
	for expression, want := range map[string]any{
		`object.spec.url.startsWith("https://a/")`:             true,
		`object.spec.url.contains("\"c\\d")`:                   true,
		`object.spec.url.contains('b"c')`:                      true,
		`object.spec.url.contains("d'e")`:                      true,
		`object.spec.url.matches(r"\\d'e$")`:                   true,
		`object.spec.url.matches("\\\\d'e$")`:                  true,
		`object.spec.url in ["x", 'y']`:                        false,
		"object.spec.url != \"a//b\" // \"no literal\n":        true,
		`"""x"y""" == "x\"y"`:                                  true,
		`"\x41\101" == "AA"`:                                   true,
		`["a", "b"].all(v, v in ["a", "b", "c"])`:              true,
		`has(object.spec["url"]) || object.spec["url"] == "a"`: nil,
		`object.spec[?"ref"].orValue("none") == "none"`:        true,
		`object.?spec.?ref.orValue("") == ""`:                  true,
		`{"k": object.n}["k"] == 3`:                            true,
	} {
		got, err := e.evaluate(t.Context(), expression, input)
		program := e.compile(expression)
		if want == nil {
			if err == nil || program != nil {
				t.Errorf("%s is evaluated", expression)
			}
			continue
		}
		if program == nil {
			t.Errorf("%s is no expression", expression)
			continue
		}
		plain, _, plainErr := program.Eval(input)
		if err != nil || plainErr != nil || got != want || plain.Value() != want {
			t.Errorf("%s: got %v, %v and without hoisting %v, %v; want %v", expression, got, err, plain, plainErr, want)
		}
	}
	one, _ := hoist(`object.spec.url == "a" && object.x != 'b'`)
	if other, values := hoist(`object.spec.url == "c" && object.x != 'd'`); one != other || values["literal_0"] != "c" || values["literal_1"] != "d" {
		t.Errorf("%q and %q are two programs; literals %v", one, other, values)
	}
}

func FuzzHoist(f *testing.F) {
	for _, text := range []string{`a == "b"`, `"`, `'\`, `"""a`, `r"\d" + "\\" // "`, "'a\n'", `"\u00e9"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, values := hoist(text)
		for name := range values {
			if !strings.Contains(out, name) {
				t.Errorf("%q lacks %s", out, name)
			}
		}
	})
}

// What a policy may cost is bounded, and a policy that asks for what only the cluster knows
// is not decided.
func TestEvaluateRefuses(t *testing.T) {
	t.Parallel()
	e, err := newEvaluator()
	if err != nil {
		t.Fatal(err)
	}
	list := "[" + strings.Repeat("1,", 200) + "1]"
	for _, expression := range []string{
		`request.userInfo.username == "x"`, "oldObject == null", "params.x", `authorizer.group("")`,
		"1 +", strings.Repeat("1 + ", 10_000) + "1", strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000),
		list + ".all(a, " + list + ".all(b, " + list + ".all(c, a + b + c > 0)))",
		"object.missing",
	} {
		if v, err := e.evaluate(t.Context(), expression, map[string]any{"object": map[string]any{}}); err == nil {
			t.Errorf("%.40s gives %v", expression, v)
		}
	}
	e.spent = limits.PolicyCost + 1
	if _, err := e.evaluate(t.Context(), "true", nil); err == nil {
		t.Error("the budget is not kept")
	}
}

func TestSelects(t *testing.T) {
	t.Parallel()
	labels := map[string]any{"a": "1", "b": "2"}
	expression := func(key, operator string, values ...any) any {
		return map[string]any{"matchExpressions": []any{map[string]any{"key": key, "operator": operator, "values": values}}}
	}
	for name, c := range map[string]struct {
		selector any
		want     bool
	}{
		"nothing":          {nil, true},
		"label":            {map[string]any{"matchLabels": map[string]any{"a": "1"}}, true},
		"other value":      {map[string]any{"matchLabels": map[string]any{"a": "2"}}, false},
		"other label":      {map[string]any{"matchLabels": map[string]any{"c": "1"}}, false},
		"in":               {expression("a", "In", "1", "2"), true},
		"not in the list":  {expression("a", "In", "2"), false},
		"NotIn":            {expression("a", "NotIn", "1"), false},
		"NotIn, not there": {expression("c", "NotIn", "1"), true},
		"exists":           {expression("b", "Exists"), true},
		"exists not":       {expression("c", "Exists"), false},
		"does not exist":   {expression("c", "DoesNotExist"), true},
		"exists after all": {expression("a", "DoesNotExist"), false},
		"unknown operator": {expression("a", "Like"), false},
	} {
		if got := selects(c.selector, labels); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPassesOnce: policies that differ in other literals than those that they pass on are read once, and
// what is passed on is still counted.
func TestPassesOnce(t *testing.T) {
	t.Parallel()
	e, err := newEvaluator()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expression string
		read       int
		refused    bool
	}{
		{`object.name in ["one"] || object.name.matches("^a{2}$")`, 1, false},
		{`object.name in ["two"] || object.name.matches("^a{2}$")`, 1, false},
		{`object.name in ["two"] || object.name.matches("^a{3}$")`, 2, false},
		{`object.name in ["two"] || object.name.matches( "` + strings.Repeat("a{1000}", 60) + `")`, 3, true},
	} {
		if got := e.passes(c.expression); len(e.passed) != c.read || (got.err != nil) != c.refused {
			t.Errorf("%s: %d are read, %v", c.expression, len(e.passed), got.err)
		}
	}
}
