// Package cycle finds the cycles of a directed graph.
package cycle

import "slices"

// Parts returns the strongly connected components of a graph: a component contains all nodes
// that can reach each other, and comes after all components that it can reach. edges returns
// the successors of a node, which must be among the nodes or reachable from them. It is Tarjan's
// algorithm without recursion, because a chain may be as long as a repository is large.
func Parts[N comparable](nodes []N, edges func(N) []N) [][]N {
	t := tarjan[N]{edges: edges, index: map[N]int{}, low: map[N]int{}, on: map[N]bool{}}
	for _, n := range nodes {
		if _, seen := t.index[n]; !seen {
			t.visit(n)
		}
	}
	return t.parts
}

type tarjan[N comparable] struct {
	edges      func(N) []N
	index, low map[N]int
	on         map[N]bool
	stack      []N
	parts      [][]N
}

type frame[N comparable] struct {
	at   N
	to   []N
	next int
}

func (t *tarjan[N]) visit(root N) {
	open := []frame[N]{t.enter(root)}
	for len(open) > 0 {
		f := &open[len(open)-1]
		if f.next < len(f.to) {
			to := f.to[f.next]
			f.next++
			if index, seen := t.index[to]; !seen {
				open = append(open, t.enter(to))
			} else if t.on[to] {
				t.low[f.at] = min(t.low[f.at], index)
			}
			continue
		}
		done := f.at
		if open = open[:len(open)-1]; len(open) > 0 {
			parent := open[len(open)-1].at
			t.low[parent] = min(t.low[parent], t.low[done])
		}
		if t.low[done] == t.index[done] {
			t.close(done)
		}
	}
}

func (t *tarjan[N]) enter(n N) frame[N] {
	t.index[n] = len(t.index)
	t.low[n] = t.index[n]
	t.stack = append(t.stack, n)
	t.on[n] = true
	return frame[N]{at: n, to: t.edges(n)}
}

// close removes a finished component from the stack.
func (t *tarjan[N]) close(root N) {
	at := len(t.stack) - 1
	for t.stack[at] != root {
		at--
	}
	part := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, n := range part {
		t.on[n] = false
	}
	t.parts = append(t.parts, part)
}
