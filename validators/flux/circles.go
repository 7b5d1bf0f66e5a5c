package flux

import "slices"

// circles are the shortest circle of each part of the graph in which everything waits for
// everything else.
func (g *waiting) circles() [][]edge {
	var found [][]edge
	for _, part := range g.parts() {
		if len(part) > 1 || slices.ContainsFunc(g.edges[part[0]], func(e edge) bool { return e.to == part[0] }) {
			found = append(found, g.shortest(part))
		}
	}
	return found
}

// parts are the strongly connected components, by Tarjan's algorithm without recursion: a
// chain of dependencies may be as long as a repository is large.
func (g *waiting) parts() [][]state {
	t := tarjan{g: g, index: map[state]int{}, low: map[state]int{}, on: map[state]bool{}}
	for _, s := range g.order {
		if _, seen := t.index[s]; !seen {
			t.visit(s)
		}
	}
	return t.parts
}

type tarjan struct {
	g          *waiting
	index, low map[state]int
	on         map[state]bool
	stack      []state
	parts      [][]state
}

func (t *tarjan) visit(root state) {
	type frame struct {
		at   state
		next int
	}
	open := []frame{{at: root}}
	t.enter(root)
	for len(open) > 0 {
		f := &open[len(open)-1]
		if edges := t.g.edges[f.at]; f.next < len(edges) {
			to := edges[f.next].to
			f.next++
			if _, seen := t.index[to]; !seen {
				t.enter(to)
				open = append(open, frame{at: to})
			} else if t.on[to] {
				t.low[f.at] = min(t.low[f.at], t.index[to])
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

func (t *tarjan) enter(s state) {
	t.index[s] = len(t.index)
	t.low[s] = t.index[s]
	t.stack = append(t.stack, s)
	t.on[s] = true
}

// close takes a finished component from the stack.
func (t *tarjan) close(root state) {
	at := len(t.stack) - 1
	for t.stack[at] != root {
		at--
	}
	part := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, s := range part {
		t.on[s] = false
	}
	t.parts = append(t.parts, part)
}

// shortest is a shortest circle through the first state of a component.
func (g *waiting) shortest(part []state) []edge {
	inside := map[state]bool{}
	for _, s := range part {
		inside[s] = true
	}
	start := part[0]
	came := map[state]edge{}
	queue := []state{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, e := range g.edges[at] {
			if _, seen := came[e.to]; seen || !inside[e.to] {
				continue
			}
			came[e.to] = e
			if e.to != start {
				queue = append(queue, e.to)
				continue
			}
			circle := []edge{e}
			for back := e.from; back != start; back = came[back].from {
				circle = append(circle, came[back])
			}
			slices.Reverse(circle)
			return circle
		}
	}
	return nil
}
