package schemas

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// costly is a definition of a kind with some rules at each of many fields, or one
// rule at the top.
func costly(t *testing.T, kind string, fields int, rule string) *Schema {
	t.Helper()
	props := map[string]any{}
	rules := []any{map[string]any{"rule": rule}}
	for i := range fields {
		props[fmt.Sprint("f", i)] = map[string]any{"type": "object", "x-kubernetes-validations": rules,
			"properties": map[string]any{"a": map[string]any{"type": "string"}}}
	}
	whole := map[string]any{"type": "object", "properties": props}
	if fields == 0 {
		whole["x-kubernetes-validations"] = rules
	}
	s, err := FromDefinition(gvk("example.com/v1", kind), true, whole)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCompileTime: rules whose compilation takes long are unresolved, at once.
func TestCompileTime(t *testing.T) {
	const tooLong = "the rules of Foo are not checked: it takes too long to compile them"
	for name, s := range map[string]*Schema{
		"many nodes":           costly(t, "Foo", 900, "false"),
		"many operands":        costly(t, "Foo", 0, "self.kind == 'a'"+strings.Repeat(" && self.kind == 'a'", 4000)),
		"types that double":    costly(t, "Foo", 0, "size([1]"+strings.Repeat(".map(x, {x: x})", 25)+") < 0"),
		"types in two keys":    costly(t, "Foo", 0, "size({1: 1}"+strings.Repeat(".transformMap(k, v, {k: v})", 25)+") < 0"),
		"lists of lists":       costly(t, "Foo", 0, "size("+strings.Repeat("[", 100)+"1"+strings.Repeat("]", 100)+") < 0"),
		"optionals":            costly(t, "Foo", 0, "size([1]"+strings.Repeat(".map(x, optional.of(x))", 100)+") < 0"),
		"message of long text": longMessage(t),
	} {
		start := time.Now()
		found := s.Validate(map[string]any{"apiVersion": "example.com/v1", "kind": "Foo"})
		if len(found) != 1 || found[0].Kind != Unresolved || !found[0].Rule || found[0].Message != tooLong {
			t.Errorf("%s: %v", name, found)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}

func longMessage(t *testing.T) *Schema {
	t.Helper()
	s, err := FromDefinition(gvk("example.com/v1", "Foo"), true, map[string]any{"type": "object", "x-kubernetes-validations": []any{
		map[string]any{"rule": "false", "messageExpression": "'a'" + strings.Repeat(" + 'a'", 10_000)}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAdmit: the rules of as many definitions are compiled as there is time for,
// the same ones whatever their order.
func TestAdmit(t *testing.T) {
	var all []*Schema
	for i := range 7 {
		all = append(all, costly(t, fmt.Sprint("Foo", i), 250+i, "false"))
	}
	all = append(all, costly(t, "Huge", 900, "false"), costly(t, "Small", 1, "false"))
	for range 2 {
		b := &Budget{}
		b.Admit(slices.Concat(all, all))
		var refused []string
		for _, s := range all {
			found := s.ValidateWith(map[string]any{"apiVersion": "example.com/v1", "kind": s.GVK.Kind, "f0": map[string]any{}}, Options{Budget: b})
			if len(found) != 1 {
				t.Fatalf("%s: %v", s.GVK.Kind, found)
			}
			if found[0].Kind == Unresolved {
				refused = append(refused, strings.TrimPrefix(found[0].Message, "the rules of "))
			}
		}
		const together = " are not checked: those of the repository's definitions cost too much together"
		slices.Sort(refused)
		if got, want := strings.Join(refused, "\n"), "Foo5"+together+"\nFoo6"+together+
			"\nHuge are not checked: it takes too long to compile them"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		slices.Reverse(all)
	}
}

// TestCopies: a definition that a repository holds twice is compiled once.
func TestCopies(t *testing.T) {
	set := NewSet()
	for _, maximum := range []int64{1, 2, 1} {
		set.Add(Definition{Group: "example.com", Kind: "Foo", Namespaced: true, Versions: map[string]func() (map[string]any, error){
			"v1": func() (map[string]any, error) {
				return map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "integer", "maximum": maximum}}}, nil
			},
		}})
	}
	found, err := set.Lookup(gvk("example.com/v1", "Foo"))
	if err != nil || len(found) != 2 {
		t.Errorf("%d schemas, %v", len(found), err)
	}
}
