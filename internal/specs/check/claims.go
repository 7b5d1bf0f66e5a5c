package check

import "github.com/fleetwright/fleetwright/internal/strict"

// claims records the objects that are generated from a product's specification or that the product itself creates, each
// with its origin. Because names are derived, two different origins may result in the same name.
type claims struct {
	// objects are keyed by their place and the object's kind and name.
	objects map[string]*claimed
	// reported are the pairs of origins that were already reported.
	reported map[[2]string]bool
}

// claimed records the first claims of an object, with which later ones are compared.
type claimed struct {
	// all is the first claim for all clusters of a place, and first the first claim for any cluster.
	all, first *Claim
	// on maps the names of clusters to the first claim for that cluster alone.
	on map[string]*Claim
}

// Claim is the origin of an object in a specification. By is its name in messages, which must be
// unique. Path is nil if the product itself creates the object.
type Claim struct {
	Path *strict.Path
	By   string
	// Way is a hint on how to resolve a conflict.
	Way string
}

// Record records the claim of an object at a place, on all its clusters or on some, and reports an error if another claim
// has the same object there. It ignores duplicates in a list, which the list's own check reports.
func (c *Product) Record(k Claim, place, object string, clusters ...string) {
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

// conflict reports, once, that two claims have the same object.
func (c *Product) conflict(k Claim, other *Claim, object, where string) {
	if other == nil || k.By == other.By || k.Path == nil || !c.Whole(c.Of) {
		return
	}
	pair := [2]string{k.By, other.By}
	if c.claims.reported[pair] {
		return
	}
	c.claims.reported[pair] = true
	hint := k.Way
	if other.Path != nil {
		hint = "the other one is at " + c.Objects[c.Of].PlaceOf(other.Path) + "; " + k.Way
	}
	c.Fail(c.Of, k.Path, hint, "%s creates %s%s, and so does %s", k.By, object, where, other.By)
}
