package repository

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

const nested = `-- f.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: a
base: &base
  inherited: 1
  own: base
spec:
  values:
    foo:
      - x: 1
      - y: "two"
    <<: *base
    own: mine
  alias: *base
  text: "<<"
  "quoted.key": yes
  8080: port
`

func TestPositions(t *testing.T) {
	o := inMemory(t, nested, Limits{}).ByKind("helm.toolkit.fluxcd.io", "HelmRelease")[0]
	for _, c := range []struct {
		path       []any
		value, key string
	}{
		{nil, "1:1", "1:1"},
		{[]any{"metadata", "name"}, "4:9", "4:3"},
		{[]any{"spec", "values"}, "9:3", "9:3"},
		{[]any{"spec", "values", "foo", 1}, "12:9", "12:9"},
		{[]any{"spec", "values", "foo", 1, "y"}, "12:12", "12:9"},
		{[]any{"spec", "values", "inherited"}, "6:14", "6:3"},
		{[]any{"spec", "values", "own"}, "14:10", "14:5"},
		{[]any{"spec", "alias", "own"}, "7:8", "7:3"},
		{[]any{"spec", "missing", "deeper"}, "8:1", "8:1"},
		{[]any{"spec", "values", "foo", 7}, "10:5", "10:5"},
		{[]any{"spec", "quoted.key"}, "17:17", "17:3"},
		{[]any{"spec", "text", "x"}, "16:3", "16:3"},
	} {
		at := func(line, column int) string { return fmt.Sprintf("%d:%d", line, column) }
		if got := at(o.Position(c.path...)); got != c.value {
			t.Errorf("Position(%v) = %s, want %s", c.path, got, c.value)
		}
		if got := at(o.KeyPosition(c.path...)); got != c.key {
			t.Errorf("KeyPosition(%v) = %s, want %s", c.path, got, c.key)
		}
	}
}

func TestValueAgreesWithKustomize(t *testing.T) {
	text := strings.TrimPrefix(nested, "-- f.yaml --\n") + `numbers: [1, -1, 0, 007, 0x1f, 0o17, 1_000, 1.5, 1e3, 18446744073709551615, 1.34, +1]
words: [yes, no, on, off, true, True, "true", ~, null, "", 2024-01-02, =, "1"]
tags: [!!str 1, !!binary aGk=, !!float 1]
`
	o := inMemory(t, "-- f.yaml --\n"+text, Limits{}).ByKind("helm.toolkit.fluxcd.io", "HelmRelease")[0]
	got, err := o.Value()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := kyaml.Unmarshal([]byte(strings.Replace(text, "8080:", `"8080":`, 1)), &want); err != nil {
		t.Fatal(err)
	}
	if g, w := fmt.Sprint(plain(got)), fmt.Sprint(plain(want)); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// plain makes integers and times comparable: a date is text to kustomize,
// since it goes through JSON.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k := range v {
			m[k] = plain(v[k])
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = plain(v[i])
		}
		return l
	case nil:
		return "null"
	}
	if s := fmt.Sprint(v); strings.HasPrefix(s, "2024-01-02") {
		return "2024-01-02"
	}
	return fmt.Sprintf("%v(%s)", v, strings.TrimSuffix(reflect.TypeOf(v).Kind().String(), "64"))
}

func TestValueRefusesWhatKustomizeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: 2\na: 3\n": `f.yaml:5:1: key "a" is set twice, first on line 3`,
		"[x]: y\n":           "f.yaml:3:1: a key must be a scalar, not a list or a map",
		"a: !!binary '*'\n":  "f.yaml:3:4: a !!binary value must be base64",
	} {
		o := inMemory(t, "-- f.yaml --\napiVersion: v1\nkind: X\n"+text, Limits{}).ByKind("", "X")[0]
		if _, err := o.Value(); err == nil || err.Error() != want {
			t.Errorf("%q gives %v, want %s", text, err, want)
		}
	}
}
