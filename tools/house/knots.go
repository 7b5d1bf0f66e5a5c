package main

import (
	"maps"
	"path/filepath"
	"slices"
)

// knot is a set of files in a package that all reference each other, directly or indirectly.
type knot struct {
	in    string
	of    int
	files []string
}

// largestKnot returns the largest knot of a package.
func largestKnot(s source) knot {
	edges := references(s)
	largest := knot{in: s.path, of: len(s.files)}
	for _, files := range components(edges) {
		if len(files) > len(largest.files) {
			largest.files = files
		}
	}
	slices.Sort(largest.files)
	return largest
}

// references returns, for each file of a package, the files whose types, functions, methods, fields or
// variables it uses.
func references(s source) map[string][]string {
	sets := map[string]map[string]bool{}
	for name := range s.files {
		sets[name] = map[string]bool{}
	}
	file := func(pos interface{ Name() string }) string { return filepath.Base(pos.Name()) }
	for id, object := range s.pkg.TypesInfo.Uses {
		if object.Pkg() != s.pkg.Types || !object.Pos().IsValid() {
			continue
		}
		from, to := file(s.pkg.Fset.File(id.Pos())), file(s.pkg.Fset.File(object.Pos()))
		if from != to && sets[from] != nil && sets[to] != nil {
			sets[from][to] = true
		}
	}
	edges := map[string][]string{}
	for name, set := range sets {
		edges[name] = slices.Sorted(maps.Keys(set))
	}
	return edges
}

// components returns the strongly connected components of a graph. Source: Tarjan, Depth-first search and
// linear graph algorithms (1972).
func components(edges map[string][]string) [][]string {
	index, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var all [][]string
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack, on[v] = append(stack, v), true
		for _, w := range edges[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		at := slices.Index(stack, v)
		one := slices.Clone(stack[at:])
		stack = stack[:at]
		for _, w := range one {
			on[w] = false
		}
		all = append(all, one)
	}
	for _, v := range slices.Sorted(maps.Keys(edges)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return all
}
