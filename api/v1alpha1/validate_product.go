package v1alpha1

import (
	"fmt"
	"slices"
)

// productChecker checks what the objects of platform products have in common.
type productChecker struct {
	*checker
	// product is the object that is checked.
	product any
}

// cluster checks that a product's cluster is there, and without Flux's lockdown;
// why says what it would keep from working.
func (c *productChecker) cluster(name, hint, why string) {
	p := at("spec", "cluster")
	if _, there := slices.BinarySearch(c.known.clusters, name); !there && !c.incomplete {
		c.fail(c.product, p, c.report.suggest(name, "cluster", c.known.clusters), "there is no cluster %s", quote(name))
	}
	if f := c.spec.Fleet; f != nil && f.Spec.MultiTenancy.Lockdown != nil && *f.Spec.MultiTenancy.Lockdown {
		c.fail(c.product, p, "set spec.multiTenancy.lockdown: false of the Fleet: "+hint, "the Fleet has Flux's multi-tenancy lockdown, under which %s", why)
	}
}

// unique reports a name that stands twice in a list.
func (c *productChecker) unique(p *fieldPath, what string, names []string) {
	first := map[string]int{}
	for i, name := range names {
		if j, twice := first[name]; twice && name != "" {
			c.fail(c.product, p.item(i), fmt.Sprintf("the first is %s", p.item(j)), "duplicate %s %s", what, quote(name))
			continue
		}
		first[name] = i
	}
}

// names reports the names of a list that are not among the valid ones.
func (c *productChecker) names(p *fieldPath, what string, names, valid []string) {
	for i, name := range names {
		if !slices.Contains(valid, name) {
			c.fail(c.product, p.item(i), c.report.suggest(name, what, valid), "there is no %s %s", what, quote(name))
		}
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
			c.fail(c.product, p.child("keys").item(i).child("name"), c.report.suggest(k.Name, "key", known), "the Secret of %s has no key %s", secret, quote(k.Name))
		}
	}
	c.unique(p.child("keys"), "key", names)
	for _, key := range wanted {
		if !slices.Contains(names, key) && c.whole(c.product) {
			c.fail(c.product, p.child("keys"), "say where its value comes from, or leave keys out", "the Secret of %s lacks the key %s", secret, quote(key))
		}
	}
	e := c.spec.Encryption
	if e != nil && !c.keyless && len(e.Spec.Recipients.Clusters[cluster].Age) == 0 && c.spec.Cluster(cluster) != nil {
		c.fail(c.product, p, "add the cluster's public key to spec.recipients.clusters."+cluster+" of the Encryption; fleetwright secrets keygen --cluster "+cluster+" makes one",
			"cluster %s has no recipients: it could not decrypt the Secret of %s", quote(cluster), secret)
	}
}
