package v1alpha1

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
	all, first *claim
	on         map[string]*claim
}

// claim is one thing that makes an object: by names it for messages, and is another one
// for each thing. Its path is nil where the product itself makes it.
type claim struct {
	path *fieldPath
	by   string
	// way out of a conflict.
	way string
}

// makes notes what a claim makes at a place, on all its clusters or on some, and reports
// it where something else makes the same there. Of one thing that stands in a list
// twice, the list's own check tells.
func (c *productChecker) makes(k claim, place, object string, clusters ...string) {
	id := place + "\x00" + object
	if c.claims.objects == nil {
		c.claims = claims{map[string]*claimed{}, map[[2]string]bool{}}
	}
	there := c.claims.objects[id]
	if there == nil {
		there = &claimed{on: map[string]*claim{}}
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
		c.conflict(k, there.on[cluster], object, " on cluster "+quote(cluster))
		if there.on[cluster] == nil {
			there.on[cluster] = &k
		}
	}
	if there.first == nil {
		there.first = &k
	}
}

// conflict reports, once, that two claims make one object.
func (c *productChecker) conflict(k claim, other *claim, object, where string) {
	if other == nil || k.by == other.by || k.path == nil || !c.whole(c.product) {
		return
	}
	pair := [2]string{k.by, other.by}
	if c.claims.told[pair] {
		return
	}
	c.claims.told[pair] = true
	hint := k.way
	if other.path != nil {
		hint = "the other stands at " + c.objects[c.product].placeOf(other.path) + "; " + k.way
	}
	c.fail(c.product, k.path, hint, "%s makes %s%s, and so does %s", k.by, object, where, other.by)
}
