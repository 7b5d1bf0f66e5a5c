// Package sorting sorts slices with one copy of each algorithm in the executable. An instantiation of
// slices.SortFunc adds 12 kB to it, and one of slices.SortStableFunc 6 kB; with some sixty types that is more
// than half a megabyte.
package sorting

import "sort"

// Func sorts a slice as [slices.SortFunc] does, with the same result.
func Func[S ~[]E, E any](s S, compare func(a, b E) int) { sort.Sort(by[E]{s, compare}) }

// StableFunc sorts a slice as [slices.SortStableFunc] does.
func StableFunc[S ~[]E, E any](s S, compare func(a, b E) int) { sort.Stable(by[E]{s, compare}) }

type by[E any] struct {
	s       []E
	compare func(a, b E) int
}

func (o by[E]) Len() int           { return len(o.s) }
func (o by[E]) Less(i, j int) bool { return o.compare(o.s[i], o.s[j]) < 0 }
func (o by[E]) Swap(i, j int)      { o.s[i], o.s[j] = o.s[j], o.s[i] }
