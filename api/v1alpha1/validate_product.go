package v1alpha1

import (
	"slices"
)

// productChecker checks what the objects of platform products have in common.
type productChecker struct {
	*checker
	// product is the object that is checked.
	product any
	claims  claims
}

// cluster checks that a product's cluster is there, and without Flux's lockdown;
// why says what it would keep from working.
func (c *productChecker) cluster(name, hint, why string) {
	if !c.incomplete {
		c.named(at("spec", "cluster"), declared{what: "cluster", otherwise: clusterHint(name), names: c.known.clusters}, name)
	}
	if f := c.spec.Fleet; f != nil && f.Spec.MultiTenancy.Lockdown != nil && *f.Spec.MultiTenancy.Lockdown {
		c.fail(f, at("spec", "multiTenancy", "lockdown"), "write multiTenancy: {lockdown: false} in the spec of the Fleet: "+hint+" ("+c.productPlace()+")",
			"the Fleet has Flux's multi-tenancy lockdown, under which %s", why)
	}
}

// productPlace says where the product stands, for a hint at another object.
func (c *productChecker) productPlace() string {
	o := c.objects[c.product]
	return "the " + o.kind + " stands at " + o.placeOf(at("spec"))
}

// unique reports a name that stands twice in a list.
func (c *productChecker) unique(p *fieldPath, what string, names []string) {
	c.uniqueBeside(p, what, names, nil)
}

// uniqueBeside reports a name that stands twice in a list, but of items whose
// other names are the same, too, which are reported as that.
func (c *productChecker) uniqueBeside(p *fieldPath, what string, names, others []string) {
	first := map[string]int{}
	for i, name := range names {
		if j, twice := first[name]; twice && name != "" {
			if others != nil && others[i] == others[j] {
				continue
			}
			c.fail(c.product, p.item(i), "the first stands at "+c.objects[c.product].placeOf(p.item(j))+"; take one of them out, or rename it",
				"duplicate %s %s", what, quote(name))
			continue
		}
		first[name] = i
	}
}

// declared are names that others refer to.
type declared struct {
	// what one is, such as "source".
	what string
	// list declares them, such as spec.sources; "" for other objects.
	list string
	// otherwise says how another is declared; by default, by adding it to the list.
	otherwise string
	names     []string
}

// hint says what a name was meant to be, or how it is declared.
func (d declared) hint(r *report, name string) string {
	if d.otherwise == "" && d.list != "" {
		d.otherwise = "add it to " + d.list
	}
	return r.suggest(name, d.what, d.otherwise, d.names)
}

// torn says whether something in a field of the spec was misread, so that what is
// not found in it may yet be meant to be there.
func (c *productChecker) torn(fields ...string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return c.objects[c.product].torn[field] })
}

// named reports a name that is not declared, and says whether it is.
func (c *productChecker) named(p *fieldPath, d declared, name string) bool {
	if slices.Contains(d.names, name) {
		return true
	}
	if name != "" && !c.torn(d.list) {
		c.fail(c.product, p, d.hint(c.report, name), "there is no %s %s", d.what, quote(name))
	}
	return false
}

// names reports the names of a list that are not declared.
func (c *productChecker) names(p *fieldPath, d declared, names []string) {
	for i, name := range names {
		c.named(p.item(i), d, name)
	}
}

// secretOf checks a Secret that a product needs: its keys, some of which may be left
// out, and that the cluster can decrypt it.
func (c *productChecker) secretOf(p *fieldPath, cluster, secret string, keys []SecretKey, wanted []string, optional ...string) {
	names := gather(keys, func(k SecretKey) string { return k.Name })
	known := slices.Concat(wanted, optional)
	for i, k := range keys {
		c.secretSource(c.product, p.child("keys").item(i).child("from"), k.From)
		if !slices.Contains(known, k.Name) && k.Name != "" && len(known) > 0 {
			c.fail(c.product, p.child("keys").item(i).child("name"), c.report.suggest(k.Name, "key", "", known), "the Secret of %s has no key %s", secret, quote(k.Name))
		}
	}
	c.unique(p.child("keys"), "key", names)
	for _, key := range wanted {
		if !slices.Contains(names, key) && c.whole(c.product) {
			c.fail(c.product, p.child("keys"), "add - {name: "+key+", from: {env: NAME}} with the environment variable that holds it, or leave keys out", "the Secret of %s lacks the key %s", secret, quote(key))
		}
	}
	e := c.spec.Encryption
	if e != nil && !c.keyless && len(e.Spec.Recipients.Clusters[cluster].Age) == 0 && c.spec.Cluster(cluster) != nil {
		c.fail(c.product, p, "add the cluster's public key to spec.recipients.clusters."+cluster+" of the Encryption; fleetwright secrets keygen --cluster "+cluster+" makes one",
			"cluster %s has no recipients: it could not decrypt the Secret of %s", quote(cluster), secret)
	}
}
