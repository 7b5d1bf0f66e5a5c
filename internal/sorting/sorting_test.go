package sorting

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAsSlices holds both against what package slices does, with many equal elements.
func TestAsSlices(t *testing.T) {
	type pair struct{ key, at int }
	compare := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var all []pair
		for i := range n {
			all = append(all, pair{random.IntN(1 + n/3), i})
		}
		for name, sorts := range map[string][2]func([]pair){
			"Func":       {func(s []pair) { Func(s, compare) }, func(s []pair) { slices.SortFunc(s, compare) }},
			"StableFunc": {func(s []pair) { StableFunc(s, compare) }, func(s []pair) { slices.SortStableFunc(s, compare) }},
		} {
			got, want := slices.Clone(all), slices.Clone(all)
			sorts[0](got)
			sorts[1](want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s of %v: %v, want %v", name, all, got, want)
			}
		}
	}
}
