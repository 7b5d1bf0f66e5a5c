package manifest_test

import (
	"bytes"
	"math"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/manifest"
)

// FuzzObject compares with sigs.k8s.io/yaml.
func FuzzObject(f *testing.F) {
	for _, text := range []string{"", "a", "yes", "1", "1e3", "a: b", "x\ny\n", " a\n b", "\t", "\x00", "\u0085", "\u2028", "\ufeff", "\x7f", "\xff", "<&>", "- a", "#", "a #b", "~", "2001-01-01", "=", "<<", "\U0001f600", "0o7", "1_000", "\"'", "\r\n"} {
		f.Add(text, int64(1), 1.5)
	}
	f.Add("a", int64(math.MaxInt64), 1e21)
	f.Add("b", int64(-1_000_000), 1e-9)
	f.Add("c", int64(0), math.Inf(1))
	f.Fuzz(func(t *testing.T, text string, integer int64, float float64) {
		// One key each that any text may be: the order of others depends on chance, with both.
		object := map[string]any{
			"key": map[string]any{text: integer}, "list": []any{text, integer, float, nil, true, []any{}, map[string]any{}}, "nothing": map[string]any(nil),
			"texts": map[string]any{"a": text, "b": float, "c10": text, "c9": text},
		}
		for i := range 2 {
			if i == 1 {
				delete(object, "nothing")
			}
			got, err := manifest.Object(object)
			want, failed := sigsyaml.Marshal(object)
			if (err != nil) != (failed != nil) || !bytes.Equal(got, want) {
				t.Errorf("%q (%v)\nsigs.k8s.io/yaml has\n%q (%v)", got, err, want, failed)
			}
		}
	})
}
