package flux

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/cycle"
)

// cycles returns the shortest cycle of each strongly connected component of the graph.
func (g *waiting) cycles() [][]edge {
	var found [][]edge
	for _, part := range g.parts() {
		if len(part) > 1 || slices.ContainsFunc(g.edges[part[0]], func(e edge) bool { return e.to == part[0] }) {
			found = append(found, g.shortest(part))
		}
	}
	return found
}

// parts returns the strongly connected components.
func (g *waiting) parts() [][]state {
	return cycle.Parts(g.order, func(s state) []state {
		to := make([]state, 0, len(g.edges[s]))
		for _, e := range g.edges[s] {
			to = append(to, e.to)
		}
		return to
	})
}

// shortest returns a shortest cycle through the first state of a component.
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
			cycle := []edge{e}
			for back := e.from; back != start; back = came[back].from {
				cycle = append(cycle, came[back])
			}
			slices.Reverse(cycle)
			return cycle
		}
	}
	return nil
}
