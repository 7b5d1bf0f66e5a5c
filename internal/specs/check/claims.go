package check

import "github.com/fleetwright/fleetwright/internal/strict"

// claims are the objects that a product's specification has made, or the product makes
// of it, each with what makes it: names are derived, so two different things may come to
// one.
type claims struct {
	// objects by where they are made and what they are.
	objects map[string]*claimed
	// told are the pairs that were reported.
	told map[[2]string]bool
}

// claimed is who makes an object: the first for all clusters of a place, the first for
// each of some clusters, and the first of all.
type claimed struct {
	all, first *Claim
	on         map[string]*Claim
}

// Claim is one thing that makes an object: by names it for messages, and is another one
// for each thing. Its path is nil where the product itself makes it.
type Claim struct {
	Path *strict.Path
	By   string
	// Way out of a conflict.
	Way string
}

// Makes notes what a claim makes at a place, on all its clusters or on some, and reports
// it where something else makes the same there. Of one thing that stands in a list
// twice, the list's own check tells.
func (c *Product) Makes(k Claim, place, object string, clusters ...string) {
	id := place + "\x00" + object
	if c.claims.objects == nil {
		c.claims = claims{map[string]*claimed{}, map[[2]string]bool{}}
	}
	there := c.claims.objects[id]
	if there == nil {
		there = &claimed{on: map[string]*Claim{}}
		c.claims.objects[id] = there
	}
	if clusters == nil {
		c.conflict(k, there.first, object, "")
		if there.all == nil {
			there.all = &k
		}
	} else {
		c.conflict(k, there.all, object, "")
	}
	for _, cluster := range clusters {
		c.conflict(k, there.on[cluster], object, " on cluster "+strict.Quote(cluster))
		if there.on[cluster] == nil {
			there.on[cluster] = &k
		}
	}
	if there.first == nil {
		there.first = &k
	}
}

// conflict reports, once, that two claims make one object.
func (c *Product) conflict(k Claim, other *Claim, object, where string) {
	if other == nil || k.By == other.By || k.Path == nil || !c.Whole(c.Of) {
		return
	}
	pair := [2]string{k.By, other.By}
	if c.claims.told[pair] {
		return
	}
	c.claims.told[pair] = true
	hint := k.Way
	if other.Path != nil {
		hint = "the other stands at " + c.Objects[c.Of].PlaceOf(other.Path) + "; " + k.Way
	}
	c.Fail(c.Of, k.Path, hint, "%s makes %s%s, and so does %s", k.By, object, where, other.By)
}
