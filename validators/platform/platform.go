// Package platform holds what the rules about the platform products
// share: what is applied to a management cluster, and the references
// between its objects.
package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// World is what is applied to one management cluster.
type World struct {
	// Cluster is nil in a repository without one.
	Cluster *reconcile.Cluster
	// Objects are all of them, and Own those of the product's kinds, in their order.
	Objects, Own []*reconcile.Object
	// All objects by identity.
	All map[reconcile.Identity]*reconcile.Object
	// Partial says why not all that is applied is known, "" where it is.
	Partial string

	// held are the kinds with any object, by group and kind.
	held  map[[2]string]bool
	kinds map[string][]*reconcile.Object
	// names are those of all objects by group, kind and namespace, sorted; nil until they are asked
	// for.
	names map[[3]string][]string
	// Hints bounds those about this cluster.
	Hints Hints
	// compared counts the names that slips were sought among.
	compared int
	// pass is the one that looks at the world, nil in a test without one; exceeded says that it has
	// reported that there is more than is followed.
	pass     *rule.Pass
	exceeded bool
}

// Exceeded reports, once for each world, that something about an object was not checked, nor what comes
// after it, since the world goes beyond a limit.
func (w *World) Exceeded(o *reconcile.Object, what, why string, path ...any) {
	if w.pass == nil || w.exceeded {
		return
	}
	w.exceeded = true
	w.pass.ReportBuilt(o, rule.Exceeded(finding.Finding{}, what, why), path...)
}

// Worlds are the management clusters of a repository: those that get any object of
// the product's groups. Without a cluster the objects are those of the files as they
// stand.
func Worlds(p *rule.Pass, groups ...string) []*World {
	var out []*World
	if len(p.Fleet().Clusters) == 0 {
		if objects := p.Applied(); holds(objects, groups) {
			out = append(out, newWorld(nil, objects, "the repository has no cluster that shows which objects are applied together", groups))
		}
	}
	for _, c := range p.Clusters() {
		if slices.ContainsFunc(applied(c), func(k *reconcile.Kustomization) bool { return holds(k.Objects, groups) }) {
			out = append(out, ofCluster(c, groups))
		}
	}
	for _, w := range out {
		w.pass = p
	}
	return out
}

// holds says whether any object is of one of the groups.
func holds(objects []*reconcile.Object, groups []string) bool {
	return slices.ContainsFunc(objects, func(o *reconcile.Object) bool { return slices.Contains(groups, o.Group) })
}

// applied are the Kustomizations that apply to a cluster itself.
func applied(c *reconcile.Cluster) []*reconcile.Kustomization {
	var all []*reconcile.Kustomization
	for _, k := range c.Kustomizations {
		if k.Spec.KubeConfig == nil { // or else it applies to another cluster
			all = append(all, k)
		}
	}
	return all
}

// ofCluster is what is applied to a cluster itself.
func ofCluster(c *reconcile.Cluster, groups []string) *World {
	var objects []*reconcile.Object
	partial := ""
	for _, k := range applied(c) {
		if !k.Complete() {
			partial = "Kustomization " + k.String() + " could not be fully built"
		}
		objects = append(objects, k.Objects...)
	}
	return newWorld(c, objects, partial, groups)
}

func newWorld(c *reconcile.Cluster, objects []*reconcile.Object, partial string, groups []string) *World {
	w := &World{
		Cluster: c, Objects: objects, Partial: partial, All: map[reconcile.Identity]*reconcile.Object{},
		held: map[[2]string]bool{}, kinds: map[string][]*reconcile.Object{},
	}
	for _, o := range objects {
		w.All[o.Identity] = o
		w.held[[2]string{o.Group, o.Kind}] = true
		if slices.Contains(groups, o.Group) {
			w.Own = append(w.Own, o)
			w.kinds[o.Kind] = append(w.kinds[o.Kind], o)
		}
	}
	return w
}

// Of are the objects of one of the product's kinds.
func (w *World) Of(kind string) []*reconcile.Object { return w.kinds[kind] }

// Holds says whether Git holds any object of a kind, of whatever group.
func (w *World) Holds(group, kind string) bool { return w.held[[2]string{group, kind}] }

// Names are those of a kind's objects in a namespace, sorted.
func (w *World) Names(group, kind, namespace string) []string {
	if w.names == nil {
		w.names = map[[3]string][]string{}
		for _, o := range w.Objects {
			key := [3]string{o.Group, o.Kind, o.Namespace}
			w.names[key] = append(w.names[key], o.Name)
		}
		for _, names := range w.names {
			slices.Sort(names)
		}
	}
	return w.names[[3]string{group, kind, namespace}]
}

// Reference is what an object names at a path of it. The namespace is "" where the
// kind has none.
type Reference struct {
	From            *reconcile.Object
	Group, Kind     string
	Namespace, Name string
	Path            []any
}

// Of names the object of a kind and namespace that stands at a path of another one.
func Of(from *reconcile.Object, group, kind, namespace string, path ...any) Reference {
	return Reference{From: from, Group: group, Kind: kind, Namespace: namespace, Name: from.Text(path...), Path: path}
}

func (r Reference) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Has says whether Git holds what a reference names.
func (w *World) Has(r Reference) bool {
	return w.All[reconcile.Identity{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}] != nil
}

// Doubt is why what Git doesn't hold may be there for reasons that hold of anything,
// "" where there are none.
func (w *World) Doubt(r Reference) string {
	if Unknown(r.Name + r.Namespace) {
		return "its name contains a variable with an unknown value"
	}
	return w.Partial
}

// Dangling says how references that name nothing are reported.
type Dangling struct {
	// There says of what Git doesn't hold at its place whether it is there all the
	// same, and why that can't be told, "" where it can.
	There func(r Reference) (is bool, doubt string)
	// Consequence of its absence, for the message.
	Consequence string
	// Hint is what to do where no name comes near, "" where nothing is known; it may
	// be nil.
	Hint func(r Reference) string
}

// Report reports the references that name nothing, and those of which that can't be
// told.
func (d Dangling) Report(p *rule.Pass, w *World, references []Reference) {
	for _, r := range references {
		if r.Name == "" || w.Has(r) {
			continue
		}
		is, doubt := d.There(r)
		if is {
			continue
		}
		if doubt != "" {
			file, line, _ := r.From.Position(r.Path...)
			p.UnresolvedFor(file, line, fmt.Sprintf("whether %s, which %s references, exists", r, r.From), doubt)
			continue
		}
		f := finding.Finding{Message: fmt.Sprintf("%s references %s, which does not exist: %s", r.From, r, d.Consequence)}
		if near := w.Hints.Nearest(r.Name, w.Names(r.Group, r.Kind, r.Namespace)); near != "" {
			f.Hint = fmt.Sprintf("did you mean %q?", near)
		} else if d.Hint != nil {
			f.Hint = d.Hint(r)
		}
		p.ReportBuilt(r.From, f, r.Path...)
	}
}

// Hints counts the names for which one was sought that comes near.
type Hints int

// mostHints bounds how many there are.
const mostHints = 100

// Nearest is one of some names that comes near to another, "" where none does, or too
// many were sought already.
func (h *Hints) Nearest(name string, names []string) string {
	if *h++; *h > mostHints {
		return ""
	}
	if near, ok := nearest.To(name, names); ok {
		return near
	}
	return ""
}

// mostCompared bounds the names of a cluster that slips are sought among.
const mostCompared = 1_000_000

// Slip is the one of some names that another one is a slip of the pen for, "" where
// there is none, or too many were compared already.
func (w *World) Slip(name string, names []string) string {
	if w.compared += len(names); w.compared > mostCompared {
		if len(w.Own) > 0 {
			w.Exceeded(w.Own[0], "whether names are typos", fmt.Sprintf("the objects of its cluster need more than %d comparisons", mostCompared))
		}
		return ""
	}
	near, _ := schemas.Misspelt(name, names)
	return near
}

// Unknown says that a variable whose value isn't known is in a text.
func Unknown(text string) bool { return strings.Contains(text, "${") }
