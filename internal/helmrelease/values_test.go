package helmrelease

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestValuesAgainstFlux holds the values of a HelmRelease to those that Flux's own library
// merges of the same objects.
func TestValuesAgainstFlux(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		repo := testarchive.Repository(t, txtar.Parse([]byte(randomRelease(random))))
		fleet := &reconcile.Fleet{}
		g := New(t.Context(), repo, fleet)
		h := g.Orphans[0]
		ours := g.Values(h)
		if len(ours.Unknown) > 0 {
			t.Fatalf("%d: unknown: %v", i, ours.Unknown)
		}
		release, err := charts.ParseRelease(h.Applied.Value)
		if err != nil {
			t.Fatal(err)
		}
		lookup := func(kind, _, name string) (charts.Data, bool) {
			for _, o := range g.Plain {
				if o.Kind == kind && o.Name == name {
					known := map[string]string{}
					for _, key := range []string{"values.yaml", "other"} {
						if text, ok, found := o.Datum(key); ok && found {
							known[key] = text
						}
					}
					return charts.Data{Known: known}, true
				}
			}
			return charts.Data{}, false
		}
		theirs, err := charts.Compose(t.Context(), release, lookup)
		if err != nil {
			continue // Flux refuses it
		}
		got, _ := json.Marshal(ours.Value.Plain())
		want, _ := json.Marshal(theirs.All)
		if string(got) != string(want) {
			t.Errorf("%d: got\n%s\nwant\n%s\nof\n%s", i, got, want, repo.Paths())
		}
	}
}

// randomRelease makes a HelmRelease with valuesFrom, and what it refers to.
func randomRelease(random *rand.Rand) string {
	var b strings.Builder
	keys := []string{"a", "b", "c"}
	var values func(indent string, depth int)
	values = func(indent string, depth int) {
		for _, key := range keys[:1+random.IntN(3)] {
			switch n := random.IntN(6); {
			case n < 2 && depth > 0:
				fmt.Fprintf(&b, "%s%s:\n", indent, key)
				values(indent+"  ", depth-1)
			case n == 2:
				fmt.Fprintf(&b, "%s%s: [1, two, {x: y}]\n", indent, key)
			case n == 3:
				fmt.Fprintf(&b, "%s%s: null\n", indent, key)
			default:
				fmt.Fprintf(&b, "%s%s: %v\n", indent, key, []any{1, 1.5, true, "text", `"7"`}[random.IntN(5)])
			}
		}
	}
	b.WriteString("-- all.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: n}\nspec:\n" +
		"  chartRef: {kind: OCIRepository, name: a}\n  valuesFrom:\n")
	n := 1 + random.IntN(3)
	for i := range n {
		fmt.Fprintf(&b, "    - {kind: %s, name: c%d", []string{"ConfigMap", "Secret"}[i%2], i)
		if random.IntN(2) == 0 {
			targets := []string{"a", "a.b", "b.c.a", "c[0]", "a.b[1].c", `a\.b.c`}
			fmt.Fprintf(&b, ", valuesKey: other, targetPath: '%s'", targets[random.IntN(len(targets))])
			if random.IntN(3) == 0 {
				b.WriteString(", literal: true")
			}
		}
		if random.IntN(4) == 0 {
			b.WriteString(", optional: true")
		}
		b.WriteString("}\n")
	}
	if random.IntN(5) > 0 {
		b.WriteString("  values:\n")
		values("    ", 2)
	}
	for i := range n {
		data := "data"
		if i%2 == 1 {
			data = "stringData"
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: %s\nmetadata: {name: c%d, namespace: n}\n%s:\n", []string{"ConfigMap", "Secret"}[i%2], i, data)
		fmt.Fprintf(&b, "  other: %s\n  values.yaml: |\n", []string{"text", `"5"`, `"true"`, `"'6'"`, `"null"`, `"0123"`}[random.IntN(6)])
		values("    ", 2)
	}
	return b.String()
}
