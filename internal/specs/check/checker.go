// Package check is what the checks of a specification have in common: how they report an error, and the
// checks of fields that several kinds have.
package check

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Checker checks what one field cannot say of itself: references between
// objects, what they may not share, and bounds that depend on other fields.
type Checker struct {
	Report  *strict.Report
	Spec    *v1alpha1.Spec
	Objects map[any]*strict.Object // by their decoded form
	// Incomplete says that some object could not be read, so that a name that
	// is not found may yet exist.
	Incomplete bool
	// Keyless says that clusters need not have keys.
	Keyless bool
	Known   known
}

// Fail reports an error at a field of an object.
func (c *Checker) Fail(of any, p *strict.Path, hint, format string, args ...any) {
	o := c.Objects[of]
	if o.Bad[p.String()] {
		return // the decoder has said what is wrong with it
	}
	c.Report.Add(o.ErrorAt(o.Node(p), p, hint, fmt.Sprintf(format, args...)))
}

// Called names another object in a message, with its place.
func (c *Checker) Called(of any) string {
	o := c.Objects[of]
	name := o.Kind + " " + strict.Quote(o.Name)
	if o.File == "" {
		return name
	}
	return name + " (" + o.Place() + ")"
}

// FailKey is fail at the key of a mapping's entry rather than at its value.
func (c *Checker) FailKey(of any, p *strict.Path, hint, format string, args ...any) {
	o := c.Objects[of]
	key, _, _ := p.Find(o.Root)
	c.Report.Add(o.ErrorAt(key, p, hint, fmt.Sprintf(format, args...)))
}

// Whole says whether objects were decoded without an error. What two objects
// may not share is not judged of one that was misread.
func (c *Checker) Whole(objects ...any) bool {
	return !slices.ContainsFunc(objects, func(of any) bool { return c.Objects[of].Broken })
}

// known are the names that selectors may use, sorted.
type known struct {
	Clusters, Environments []string
	Labels                 map[string][]string // the values of each label
}

// KnownNames returns the names by which selectors select clusters.
func KnownNames(clusters []*v1alpha1.Cluster) known {
	k := known{Labels: map[string][]string{}}
	for _, cluster := range clusters {
		k.Clusters = append(k.Clusters, cluster.Metadata.Name)
		if e := cluster.Spec.Environment; e != "" {
			k.Environments = append(k.Environments, e)
		}
		for key, value := range cluster.Metadata.Labels {
			k.Labels[key] = append(k.Labels[key], value)
		}
	}
	slices.Sort(k.Clusters)
	slices.Sort(k.Environments)
	k.Environments = slices.Compact(k.Environments)
	for key, values := range k.Labels {
		slices.Sort(values)
		k.Labels[key] = slices.Compact(values)
	}
	return k
}
