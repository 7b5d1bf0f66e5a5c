package count_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/internal/count"
)

// TestQuantity compares with the API server's parser wherever that one comes to an end.
func TestQuantity(t *testing.T) {
	for _, text := range []string{"", "0", "1", "-1", "+1", "1.5", "100m", "1Gi", "1E", "1Ei", "1e3", "1e-3", "12E5", "1e400", "1e-400", ".5", "5.",
		"1e", "1e+", "1ee5", "e5", "1e5Gi", "a", "1 ", "1e1.5", "0x10", "1_000", "--1", "e-999999999", "x1e-999999999"} {
		got, err := count.Quantity(text)
		want, wantErr := resource.ParseQuantity(text)
		if (err == nil) != (wantErr == nil) || got.Cmp(want) != 0 {
			t.Errorf("%q: %v, %v; the API server says %v, %v", text, &got, err, &want, wantErr)
		}
	}
	for _, text := range []string{"1e-999999999", "1E-999999999", "0e-999999999", "1e999999999", "1e+401", "-1.5e-401", "1e4294967296",
		"1e99999999999999999999", "1e-0000000999999999", strings.Repeat("9", 1000), "1." + strings.Repeat("9", 1000), strings.Repeat("9", 1000) + "Gi", strings.Repeat("9", 1000) + "e3"} {
		var limit *count.Error
		if _, err := count.Quantity(text); !errors.As(err, &limit) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestHoldsNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "1e5": false, "a1e-999999999b": true, "cpu=1E+1000": true, "1e400": false, "1e401": true, "e999999": false, "abcde12345": false,
		strings.Repeat("9", 401): true, "1ee999999": false, "1234e567": true, "1.e1000": true,
	} {
		if got := count.HoldsNumber(text); got != want {
			t.Errorf("%.30q: %v", text, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]bool{`{"a": [1, 2.5e300, "1e1000000"]}`: true, `{"a": [{"maximum": 1e1000000}]}`: false, `[1e-1000000]`: false} {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var document any
		if err := decoder.Decode(&document); err != nil {
			t.Fatal(err)
		}
		if err := count.Numbers(document); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestInstructions compares the estimate with what regexp compiles.
func TestInstructions(t *testing.T) {
	for _, pattern := range []string{"", "a", "abc", "(?i)abc", "a*b+c?", "a{3}", "a{2,5}", "a{2,}", "a{0}", "a{0,3}", "(ab|c){3,7}", "((a{3}b){4}|c){2,}", "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$",
		`(^|/)kubernetes/.*\.sops\.ya?ml$`, `^(([a-z]{1,100}){1,9}[0-9]*)*$`, `\pL{10}`, "(?:)", "(?:){5}", "()", `a|b|cd|\b|$`, "(a|b|c)*?", "((((a))))", "(a?){20}", "[^a]|.", `(?s).{30}`, "(a*)*", "(a*)+"} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		got, err := count.Instructions(pattern)
		if err != nil || got < len(program.Inst) || got > 2*len(program.Inst)+4 {
			t.Errorf("%q: %d, %v; it has %d", pattern, got, err, len(program.Inst))
		}
	}
}

func TestCompile(t *testing.T) {
	var limit *count.Error
	for _, pattern := range []string{strings.Repeat("(a{1000})", 100), strings.Repeat("((a{10}b?){90})", 3000), strings.Repeat("a", 200_000)} {
		if _, err := count.Compile(pattern); !errors.As(err, &limit) {
			t.Errorf("%.20q: %.100v", pattern, err)
		}
	}
	for _, pattern := range []string{"(", "a{1001}", "((a{1000}){1000})", "*", "(?<a", `\8`} {
		_, err := count.Compile(pattern)
		if _, want := regexp.Compile(pattern); fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("%q: %v, not %v", pattern, err, want)
		}
	}
	if re, err := count.Compile("^a+$"); err != nil || !re.MatchString("aa") {
		t.Error(err)
	}
}

func TestSteps(t *testing.T) {
	var s count.Steps
	if err := s.Take(1000, 10_000); err != nil {
		t.Error(err)
	}
	if err := s.Take(50_000, 10_000); err == nil {
		t.Error("no limit")
	}
	if err := new(count.Steps).Take(1<<40, 1<<40); err == nil {
		t.Error("no limit of large products")
	}
}

func TestLists(t *testing.T) {
	var l count.Lists
	for i := range 1000 {
		if err := l.Add(fmt.Sprintf("a.b[%d].c", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, odd := range []string{"a[", "a[x]", "a[-1]", "a[]", "a]", "[", "a[99999999999999999999]", "a[1048577]"} {
		if err := l.Add(odd); err != nil {
			t.Error(odd, err)
		}
	}
	if err := l.Add("x[50000]"); err != nil {
		t.Error(err)
	}
	if err := l.Add("y[50000]"); err == nil {
		t.Error("no limit of several lists")
	}
	if err := new(count.Lists).Add("a[1][60000][60000]"); err == nil {
		t.Error("no limit of nested lists")
	}
	slow := count.Lists{}
	var err error
	for i := 0; i < 20_000 && err == nil; i++ {
		err = slow.Add(fmt.Sprintf("a[%d]", i))
	}
	if err == nil {
		t.Error("no limit of a list that grows by one")
	}
	inValue := count.Lists{}
	if err := inValue.AddLine("a", "b[65535],c[65535]"); err != nil {
		t.Error(err)
	}
	if err := inValue.AddLine("a", "1,b[65535]=2,c[65535]=3"); err == nil {
		t.Error("no limit of paths in a value")
	}
}

func TestCreated(t *testing.T) {
	for name, c := range map[string]struct {
		function string
		args     []any
		want     int
	}{
		"a number":                  {"seq", []any{[]int{1000}}, 8 * 999},
		"from and to":               {"seq", []any{[]int{1, 1001}}, 8 * 1000},
		"down":                      {"seq", []any{[]int{1001, 1}}, 8 * 1000},
		"with a step":               {"seq", []any{[]int{0, 10, 1000}}, 8 * 100},
		"a step away from it":       {"untilStep", []any{0, 1000, -1}, 0},
		"a step of nothing":         {"untilStep", []any{0, 1000, 0}, 0},
		"a distance that overflows": {"untilStep", []any{-9223372036854775808, 9223372036854775800, 1}, 1 << 40},
		"down by tens":              {"untilStep", []any{1000, 0, -10}, 8 * 100},
		"a step that overflows":     {"untilStep", []any{9000000000000000000, 9223372036854775807, 5000000000000000000}, 1 << 40},
	} {
		var args []reflect.Value
		for _, arg := range c.args {
			args = append(args, reflect.ValueOf(arg))
		}
		if got := count.Created(c.function, args); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
