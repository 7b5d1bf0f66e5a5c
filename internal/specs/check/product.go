package check

import (
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Product checks what the objects of platform products have in common.
type Product struct {
	*Checker
	// Of is the object that is checked.
	Of     any
	claims claims
}

// NewProduct returns the checks of a product's object.
func NewProduct(c *Checker, product any) *Product {
	return &Product{Checker: c, Of: product}
}

// Cluster checks that a product's cluster is there, and without Flux's lockdown;
// why says what it would keep from working.
func (c *Product) Cluster(name, hint, why string) {
	if !c.Incomplete {
		c.Named(strict.At("spec", "cluster"), Declared{What: "cluster", Otherwise: ClusterHint(name), Names: c.Known.Clusters}, name)
	}
	if f := c.Spec.Fleet; f != nil && f.Spec.MultiTenancy.Lockdown != nil && *f.Spec.MultiTenancy.Lockdown {
		c.Fail(f, strict.At("spec", "multiTenancy", "lockdown"), "write multiTenancy: {lockdown: false} in the spec of the Fleet: "+hint+" ("+c.ProductPlace()+")",
			"the Fleet has Flux's multi-tenancy lockdown, under which %s", why)
	}
}

// ProductPlace says where the product stands, for a hint at another object.
func (c *Product) ProductPlace() string {
	o := c.Objects[c.Of]
	return "the " + o.Kind + " stands at " + o.PlaceOf(strict.At("spec"))
}

// Unique reports a name that stands twice in a list.
func (c *Product) Unique(p *strict.Path, what string, names []string) {
	c.UniqueBeside(p, what, names, nil)
}

// UniqueBeside reports a name that stands twice in a list, but of items whose
// other names are the same, too, which are reported as that.
func (c *Product) UniqueBeside(p *strict.Path, what string, names, others []string) {
	first := map[string]int{}
	for i, name := range names {
		if j, twice := first[name]; twice && name != "" {
			if others != nil && others[i] == others[j] {
				continue
			}
			c.Fail(c.Of, p.Item(i), "the first stands at "+c.Objects[c.Of].PlaceOf(p.Item(j))+"; take one of them out, or rename it",
				"duplicate %s %s", what, strict.Quote(name))
			continue
		}
		first[name] = i
	}
}

// Declared are names that others refer to.
type Declared struct {
	// What one is, such as "source".
	What string
	// List declares them, such as spec.sources; "" for other objects.
	List string
	// Otherwise says how another is declared; by default, by adding it to the list.
	Otherwise string
	Names     []string
}

// Hint says what a name was meant to be, or how it is declared.
func (d Declared) Hint(r *strict.Report, name string) string {
	if d.Otherwise == "" && d.List != "" {
		d.Otherwise = "add it to " + d.List
	}
	return r.Suggest(name, d.What, d.Otherwise, d.Names)
}

// Torn says whether something in a field of the spec was misread, so that what is
// not found in it may yet be meant to be there.
func (c *Product) Torn(fields ...string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return c.Objects[c.Of].Torn[field] })
}

// Named reports a name that is not declared, and says whether it is.
func (c *Product) Named(p *strict.Path, d Declared, name string) bool {
	if slices.Contains(d.Names, name) {
		return true
	}
	if name != "" && !c.Torn(d.List) {
		c.Fail(c.Of, p, d.Hint(c.Report, name), "there is no %s %s", d.What, strict.Quote(name))
	}
	return false
}

// Names reports the names of a list that are not declared.
func (c *Product) Names(p *strict.Path, d Declared, names []string) {
	for i, name := range names {
		c.Named(p.Item(i), d, name)
	}
}

// SecretOf checks a Secret that a product needs: its keys, some of which may be left
// out, and that the cluster can decrypt it.
func (c *Product) SecretOf(p *strict.Path, cluster, secret string, keys []v1alpha1.SecretKey, wanted []string, optional ...string) {
	names := Gather(keys, func(k v1alpha1.SecretKey) string { return k.Name })
	known := slices.Concat(wanted, optional)
	for i, k := range keys {
		c.SecretSource(c.Of, p.Child("keys").Item(i).Child("from"), k.From)
		if !slices.Contains(known, k.Name) && k.Name != "" && len(known) > 0 {
			c.Fail(c.Of, p.Child("keys").Item(i).Child("name"), c.Report.Suggest(k.Name, "key", "", known), "the Secret of %s has no key %s", secret, strict.Quote(k.Name))
		}
	}
	c.Unique(p.Child("keys"), "key", names)
	for _, key := range wanted {
		if !slices.Contains(names, key) && c.Whole(c.Of) {
			c.Fail(c.Of, p.Child("keys"), "add - {name: "+key+", from: {env: NAME}} with the environment variable that holds it, or leave keys out", "the Secret of %s lacks the key %s", secret, strict.Quote(key))
		}
	}
	e := c.Spec.Encryption
	if e != nil && !c.Keyless && len(e.Spec.Recipients.Clusters[cluster].Age) == 0 && c.Spec.Cluster(cluster) != nil {
		c.Fail(c.Of, p, "add the cluster's public key to spec.recipients.clusters."+cluster+" of the Encryption; fleetwright secrets keygen --cluster "+cluster+" makes one",
			"cluster %s has no recipients: it could not decrypt the Secret of %s", strict.Quote(cluster), secret)
	}
}

// Gather returns the names of the items of a list.
func Gather[T any](list []T, name func(T) string) []string {
	out := make([]string, 0, len(list))
	for _, item := range list {
		out = append(out, name(item))
	}
	return out
}
