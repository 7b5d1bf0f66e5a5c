package bootstrap

import (
	"math/big"

	"github.com/fleetwright/fleetwright/internal/cycle"
)

// reach says which nodes of a graph lead to which, as sets of the nodes' numbers.
type reach[N comparable] struct {
	number map[N]int
	// from holds the nodes to which a node leads, directly or through others: itself only in a cycle.
	from map[N]*big.Int
}

// newReach computes the reach of the nodes, and of those that edges leads to, each once.
func newReach[N comparable](nodes []N, edges func(N) []N) reach[N] {
	r := reach[N]{map[N]int{}, map[N]*big.Int{}}
	for _, part := range cycle.Parts(nodes, edges) {
		all := new(big.Int)
		for _, n := range part {
			r.number[n] = len(r.number)
		}
		for _, n := range part {
			for _, next := range edges(n) {
				all.SetBit(all, r.number[next], 1)
				if further := r.from[next]; further != nil { // of an earlier part
					all.Or(all, further)
				}
			}
		}
		for _, n := range part {
			r.from[n] = all
		}
	}
	return r
}

// leads reports whether a node leads to another, directly or through others.
func (r reach[N]) leads(from, to N) bool { return r.in(to, r.from[from]) }

// in reports whether a set contains a node.
func (r reach[N]) in(n N, set *big.Int) bool { return set.Bit(r.number[n]) == 1 }

// set returns a set of nodes.
func (r reach[N]) set(nodes []N) *big.Int {
	all := new(big.Int)
	for _, n := range nodes {
		all.SetBit(all, r.number[n], 1)
	}
	return all
}

// leadsToOne reports whether a node leads to one of a set.
func (r reach[N]) leadsToOne(from N, set *big.Int) bool { return meet(r.from[from], set) }

// meet reports whether some sets have a common node.
func meet(first *big.Int, others ...*big.Int) bool {
	common := new(big.Int).Set(first)
	for _, other := range others {
		common.And(common, other)
	}
	return common.Sign() > 0
}
