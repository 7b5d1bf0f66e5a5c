package bootstrap

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// contradictions reports releases that the bootstrap installs after others, directly or through releases between them, and whose
// Kustomizations Flux applies in the opposite order.
func (o *ordering) contradictions(sound []*helmfile.Release) {
	c := contradictions{ordering: o, after: map[*reconcile.Kustomization]*big.Int{}, before: map[*reconcile.Kustomization]*big.Int{}}
	of := map[*reconcile.Kustomization][]*helmfile.Release{}
	for _, r := range sound {
		if k := c.appliedBy(r); k != nil {
			if of[k] == nil {
				c.kustomizations = append(c.kustomizations, k)
			}
			of[k] = append(of[k], r)
			c.applied = append(c.applied, r)
		}
	}
	waits := newReach(c.kustomizations, dependencies)
	sets := map[*reconcile.Kustomization]*big.Int{}
	for _, k := range c.kustomizations {
		sets[k], c.after[k], c.before[k] = o.set(of[k]), new(big.Int), new(big.Int)
	}
	for _, k := range c.kustomizations {
		for _, on := range c.kustomizations {
			if k != on && waits.leads(k, on) {
				c.after[on].Or(c.after[on], sets[k])
				c.before[k].Or(c.before[k], sets[on])
			}
		}
	}
	for _, r := range c.applied {
		c.check(r)
	}
}

// contradictions compares the needs of a file with the order of the Kustomizations.
type contradictions struct {
	*ordering
	// applied are the releases whose Kustomizations are known, and kustomizations these.
	applied        []*helmfile.Release
	kustomizations []*reconcile.Kustomization
	// after holds the releases whose Kustomizations wait for a Kustomization, and before those for whose it waits.
	after, before map[*reconcile.Kustomization]*big.Int
	// back leads from the releases to those that need them, nil before its first use.
	back map[*helmfile.Release]*big.Int
}

// appliedBy returns the Kustomization that applies the HelmRelease of a release, nil if it is not known.
func (c *contradictions) appliedBy(r *helmfile.Release) *reconcile.Kustomization {
	if h := c.takenOverBy[r]; h != nil && !r.CRDsOnly {
		return h.Applied.Kustomization
	}
	return nil
}

// dependencies returns the Kustomizations on which a Kustomization depends itself.
func dependencies(k *reconcile.Kustomization) []*reconcile.Kustomization {
	var all []*reconcile.Kustomization
	for _, d := range k.Spec.DependsOn {
		if on, found := k.Cluster.Kustomization(cmp.Or(d.Namespace, k.Namespace), d.Name); found {
			all = append(all, on)
		}
	}
	return all
}

// check reports the releases before a release that should come after it. If one between them contradicts already, only that is
// reported; and of several to which the same need leads, only the first.
func (c *contradictions) check(r *helmfile.Release) {
	opposite := c.after[c.appliedBy(r)]
	if !c.leadsToOne(r, opposite) {
		return
	}
	needs := map[*helmfile.Release]int{}
	for i, need := range slices.Backward(r.Needs) {
		needs[c.byID[helmfile.NeedID(r, need.Value)]] = i
	}
	reported := map[int]bool{}
	for _, other := range c.applied {
		if !c.in(other, opposite) || !c.leads(r, other) {
			continue
		}
		if i, direct := needs[other]; direct {
			c.report(r, other, i, "the need")
			continue
		}
		i := slices.IndexFunc(r.Needs, func(t located.Text) bool {
			needed := c.byID[helmfile.NeedID(r, t.Value)]
			return needed != nil && c.leads(needed, other)
		})
		if !reported[i] && !c.between(r, other) {
			reported[i] = true
			c.report(r, other, i, fmt.Sprintf("a need that leads from %q to %q", r.ID(), other.ID()))
		}
	}
}

// between reports whether a release between two contradicts the order of one of them.
func (c *contradictions) between(r, other *helmfile.Release) bool {
	if c.back == nil {
		c.back = map[*helmfile.Release]*big.Int{}
		for _, other := range c.applied {
			c.back[other] = new(big.Int)
		}
		for _, r := range c.applied {
			for _, other := range c.applied {
				if c.leads(r, other) {
					c.back[other].SetBit(c.back[other], c.number[r], 1)
				}
			}
		}
	}
	return meet(c.from[r], c.back[other], c.after[c.appliedBy(r)]) || meet(c.from[r], c.back[other], c.before[c.appliedBy(other)])
}

func (c *contradictions) report(r, other *helmfile.Release, need int, what string) {
	c.add(r, r.Needs[need].Place, false, fmt.Sprintf("helmfile installs release %q before %q, but Kustomization %s, which applies the first, depends on %s, which applies the second",
		other.ID(), r.ID(), c.appliedBy(other), c.appliedBy(r)), "remove one of the two: "+what+", or the Kustomization's dependsOn")
}
