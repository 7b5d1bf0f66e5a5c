package manifest

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// library writes a node as yaml.v3 does.
func library(t *testing.T, n *yaml.Node) string {
	t.Helper()
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(n); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func sameAsLibrary(t *testing.T, object any) {
	t.Helper()
	n, err := Node(object)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got, n); err != nil {
		t.Fatal(err)
	}
	if want := library(t, n); got.String() != want {
		t.Errorf("we write\n%s\nyaml.v3 writes\n%s", got.String(), want)
	}
}

func TestWriteSameAsLibrary(t *testing.T) {
	sameAsLibrary(t, map[string]any{
		"a": []any{"x", []any{"y", []any{}}, map[string]any{"k": "v", "l": []any{"m"}, "n": map[string]any{"o": nil}}, map[string]any{}},
		"b": "text\n\nmore\n", "c": []any{"two\nlines", "x\n"}, "d": true, "e": 1.5, "f": "a: b", "g": "a #b", "h": "a:b", "i": "https://x.y/z?a=b",
		"j": "# no", "k k": "", "n": "- x", "o": "v1", "p": "'q'", "q": "ü", "r": "${X}", "s": "{{ x }}", "t": "*", "u": "@x", "v": "%", "w": "a\tb",
		"x": "trailing:", "y": "a  b", "z": "<<",
	})
	sameAsLibrary(t, []any{"a", map[string]any{"b": "c\nd"}})
	sameAsLibrary(t, map[string]any{})
	sameAsLibrary(t, "scalar")
}

func FuzzWriteSameAsLibrary(f *testing.F) {
	for _, s := range []string{"", "a", "a: b", "a #b", "1.0", "x\ny", "yes", "/x", "a,b", "a=", "-", "(x)", "a:", "null", "$x", "a\\b", "0x1", "= x", "2001-01-01"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		// yaml.v3 gives long keys, and those of several lines, a question mark.
		if !utf8.ValidString(key) || !utf8.ValidString(value) || len(key) > 100 || strings.ContainsAny(key, "\n\r\u0085\u2028\u2029") {
			return
		}
		sameAsLibrary(t, map[string]any{key: []any{value, map[string]any{"k": value}}})
	})
}
