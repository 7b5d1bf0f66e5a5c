package check

import (
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Product contains the checks that the objects of platform products have in common.
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

// Cluster checks that a product's cluster exists, and that the Fleet does not enable Flux's lockdown; why describes what
// lockdown would break.
func (c *Product) Cluster(name, hint, why string) {
	if !c.Incomplete {
		c.Named(strict.At("spec", "cluster"), Declared{What: "cluster", Otherwise: ClusterHint(name), Names: c.Known.Clusters}, name)
	}
	if f := c.Spec.Fleet; f != nil && f.Spec.MultiTenancy.Lockdown != nil && *f.Spec.MultiTenancy.Lockdown {
		c.Fail(f, strict.At("spec", "multiTenancy", "lockdown"), "write multiTenancy: {lockdown: false} in the spec of the Fleet: "+hint+" ("+c.ProductPlace()+")",
			"the Fleet enables Flux's multi-tenancy lockdown, under which %s", why)
	}
}

// ProductPlace returns the place of the product's object, for a hint at another object.
func (c *Product) ProductPlace() string {
	o := c.Objects[c.Of]
	return "the " + o.Kind + " is at " + o.PlaceOf(strict.At("spec"))
}

// Unique reports duplicate names in a list.
func (c *Product) Unique(p *strict.Path, what string, names []string) {
	c.UniqueBeside(p, what, names, nil)
}

// UniqueBeside reports duplicate names in a list, except for items whose names in others are also
// equal: those are reported for others.
func (c *Product) UniqueBeside(p *strict.Path, what string, names, others []string) {
	first := map[string]int{}
	for i, name := range names {
		if j, twice := first[name]; twice && name != "" {
			if others != nil && others[i] == others[j] {
				continue
			}
			c.Fail(c.Of, p.Item(i), "the first one is at "+c.Objects[c.Of].PlaceOf(p.Item(j))+"; remove or rename one of them",
				"duplicate %s %s", what, strict.Quote(name))
			continue
		}
		first[name] = i
	}
}

// Declared are names that can be referred to.
type Declared struct {
	// What is the noun for a name, such as "source".
	What string
	// List is the field that declares the names, such as spec.sources; "" for other objects.
	List string
	// Otherwise is the hint on how to declare another name; by default, to add it to the list.
	Otherwise string
	Names     []string
}

// Hint returns the name that was probably meant, or how to declare the name.
func (d Declared) Hint(r *strict.Report, name string) string {
	if d.Otherwise == "" && d.List != "" {
		d.Otherwise = "add it to " + d.List
	}
	return r.Suggest(name, d.What, d.Otherwise, d.Names)
}

// Torn reports whether a part of a field of the spec could not be read, so that a missing name may be there.
func (c *Product) Torn(fields ...string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return c.Objects[c.Of].Torn[field] })
}

// Named reports an error if a name is not declared, and returns whether it is.
func (c *Product) Named(p *strict.Path, d Declared, name string) bool {
	if slices.Contains(d.Names, name) {
		return true
	}
	if name != "" && !c.Torn(d.List) {
		c.Fail(c.Of, p, d.Hint(c.Report, name), "%s %s does not exist", d.What, strict.Quote(name))
	}
	return false
}

// Names reports an error for each name of a list that is not declared.
func (c *Product) Names(p *strict.Path, d Declared, names []string) {
	for i, name := range names {
		c.Named(p.Item(i), d, name)
	}
}

// SecretOf checks a Secret that a product needs: its keys, some of which are optional,
// and that the cluster can decrypt it.
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
			c.Fail(c.Of, p.Child("keys"), "add - {name: "+key+", from: {env: NAME}} with the environment variable that holds it, or remove keys", "the Secret of %s does not have the key %s", secret, strict.Quote(key))
		}
	}
	e := c.Spec.Encryption
	if e != nil && !c.Keyless && len(e.Spec.Recipients.Clusters[cluster].Age) == 0 && c.Spec.Cluster(cluster) != nil {
		c.Fail(c.Of, p, "add the cluster's public key to spec.recipients.clusters."+cluster+" of the Encryption; fleetwright secrets keygen --cluster "+cluster+" generates one",
			"cluster %s has no recipients, so it could not decrypt the Secret of %s", strict.Quote(cluster), secret)
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
