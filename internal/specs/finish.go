package specs

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/specs/check"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// finish creates the specification from the decoded objects, applies the defaults and checks it.
func (l *loader) finish() (*v1alpha1.Spec, error) {
	spec := &v1alpha1.Spec{States: map[string]v1alpha1.Place{}}
	c := &specChecker{Checker: &check.Checker{Report: &l.report, Spec: spec, Objects: map[any]*strict.Object{}, Incomplete: l.incomplete, Keyless: l.keyless}}
	first := map[string]*strict.Object{}
	for _, o := range l.objects {
		id := o.Kind + " " + o.Name
		if earlier, taken := first[id]; taken && o.Name != "" {
			key, _, _ := strict.At("metadata", "name").Find(o.Root)
			l.report.Add(o.ErrorAt(key, strict.At("metadata", "name"), "the first one is at "+earlier.Place()+"; remove or rename one of them", fmt.Sprintf("duplicate %s %s", o.Kind, strict.Quote(o.Name))))
			continue
		}
		first[id] = o
		c.Objects[o.Decoded] = o
		c.all = append(c.all, o)
		c.include(o)
	}
	sorting.StableFunc(spec.Clusters, func(a, b *v1alpha1.Cluster) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	sorting.StableFunc(spec.Addons, func(a, b *v1alpha1.Addon) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	sorting.StableFunc(spec.Tenants, func(a, b *v1alpha1.Tenant) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	sorting.Func(spec.Products, func(a, b v1alpha1.Product) int { return strings.Compare(a.ProductName(), b.ProductName()) })
	if len(l.objects) == 0 && !l.incomplete {
		l.report.Add(strict.Error{Message: "no object of a specification found", Hint: "fleetwright init writes a starter specification"})
		return nil, l.report.Err()
	}
	v1alpha1.ApplyDefaults(spec, count.Quantity)
	for _, complete := range productDefaults {
		complete(spec)
	}
	c.check()
	if err := l.report.Err(); err != nil {
		return nil, err
	}
	return spec, nil
}

// include adds an object to the specification. A second object of a kind that may exist
// only once is an error.
func (c *specChecker) include(o *strict.Object) {
	switch x := o.Decoded.(type) {
	case *v1alpha1.Cluster:
		c.Spec.Clusters = append(c.Spec.Clusters, x)
	case *v1alpha1.Addon:
		c.Spec.Addons = append(c.Spec.Addons, x)
	case *v1alpha1.Tenant:
		c.Spec.Tenants = append(c.Spec.Tenants, x)
		_, value, _ := strict.At("spec", "state").Find(o.Root)
		e := o.ErrorAt(value, strict.At("spec", "state"), "", "")
		c.Spec.States[o.Name] = v1alpha1.Place{File: e.File, Line: e.Line, Column: e.Column, Object: e.Object, Field: e.Field}
	case *v1alpha1.Fleet:
		c.Spec.Fleet = only(c, o, c.Spec.Fleet, x)
	case *v1alpha1.Encryption:
		c.Spec.Encryption = only(c, o, c.Spec.Encryption, x)
	case v1alpha1.Product:
		c.product(o, x)
	}
}

// product adds the object of a platform product to the specification. A second object of its kind is an error.
func (c *specChecker) product(o *strict.Object, p v1alpha1.Product) {
	for _, other := range c.Spec.Products {
		if other.ProductName() == p.ProductName() {
			c.single(o, c.Objects[other])
			return
		}
	}
	c.Spec.Products = append(c.Spec.Products, p)
}

// only returns the first object of a kind that may exist only once, and reports an error for a second one.
func only[T any](c *specChecker, o *strict.Object, first, x *T) *T {
	if first == nil {
		return x
	}
	c.single(o, c.Objects[any(first)])
	return first
}

func (c *specChecker) single(o, earlier *strict.Object) {
	c.Report.Add(o.ErrorAt(o.Root, nil, "the first one is at "+earlier.Place()+"; merge the two", fmt.Sprintf("a specification has only one %s, and this is a second one", o.Kind)))
}
