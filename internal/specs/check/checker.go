// Package check contains code that the checks of all kinds of a specification share: reporting errors, and
// checks of common fields.
package check

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Checker checks what depends on several fields: references between objects, values that must be unique,
// and limits that depend on other fields.
type Checker struct {
	Report  *strict.Report
	Spec    *v1alpha1.Spec
	Objects map[any]*strict.Object // by their decoded values
	// Incomplete is set if an object could not be read. A missing name may then belong to that object.
	Incomplete bool
	// Keyless is set if clusters may have no keys.
	Keyless bool
	Known   known
}

// Fail reports an error at a field of an object.
func (c *Checker) Fail(of any, p *strict.Path, hint, format string, args ...any) {
	o := c.Objects[of]
	if o.Bad[p.String()] {
		return // the decoder has already reported it
	}
	c.Report.Add(o.ErrorAt(o.Node(p), p, hint, fmt.Sprintf(format, args...)))
}

// Called returns the name of another object for a message, with its place.
func (c *Checker) Called(of any) string {
	o := c.Objects[of]
	name := o.Kind + " " + strict.Quote(o.Name)
	if o.File == "" {
		return name
	}
	return name + " (" + o.Place() + ")"
}

// FailKey reports an error as Fail does, but at the key of a mapping's entry instead of its value.
func (c *Checker) FailKey(of any, p *strict.Path, hint, format string, args ...any) {
	o := c.Objects[of]
	key, _, _ := p.Find(o.Root)
	c.Report.Add(o.ErrorAt(key, p, hint, fmt.Sprintf(format, args...)))
}

// Whole reports whether objects were decoded without an error. If one was not, checks across
// several objects are skipped.
func (c *Checker) Whole(objects ...any) bool {
	return !slices.ContainsFunc(objects, func(of any) bool { return c.Objects[of].Broken })
}

// known contains the names that selectors may use, sorted.
type known struct {
	Clusters, Environments []string
	Labels                 map[string][]string // the values by label
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
