// Package platform holds the code that the rules about platform products share: the objects that are applied to
// a management cluster, and the references between them.
package platform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ManagementCluster holds the objects that are applied to one management cluster.
type ManagementCluster struct {
	// Cluster is nil if the repository has no cluster.
	Cluster *reconcile.Cluster
	// Objects are all objects in the order in which they were found. Own are the objects of the product's API groups.
	Objects, Own []*reconcile.Object
	// All are the objects by identity.
	All map[reconcile.Identity]*reconcile.Object
	// Partial is the reason why not all applied objects are known, "" if they are.
	Partial string
	// doubt returns the reason why a missing object that another one references may exist nevertheless, "" if there is
	// none; nil without a cluster.
	doubt Doubt

	// held is the set of kinds that have an object, by group and kind.
	held  map[[2]string]bool
	kinds map[string][]*reconcile.Object
	// names are the sorted names of the objects by group, kind and namespace, computed at the first use.
	names map[[3]string][]string
	// Hints counts the hints about this cluster, up to a limit.
	Hints Hints
	// compared counts the names that were compared to find typos.
	compared int
	// pass is the current pass; nil in a test without one. exceeded reports whether it was already reported that the
	// cluster exceeds a limit.
	pass     *rule.Pass
	exceeded bool
}

// Values returns the values of a HelmRelease, with those of the ConfigMaps and Secrets in Git. The error says why they are not known.
func (w *ManagementCluster) Values(o *reconcile.Object) (map[string]any, error) {
	ctx := context.Background()
	if w.pass != nil {
		ctx = w.pass.Context
	}
	return reconcile.ReleaseValues(ctx, o, func(id reconcile.Identity) *reconcile.Object { return w.All[id] })
}

// Doubt returns the reason why an object that no file of a cluster defines may exist nevertheless, for the reference of
// the object of; "" if there is none.
type Doubt func(id reconcile.Identity, of *reconcile.Object) string

// Exceeded reports, once for each cluster, that something about an object, and everything after it, was not checked
// because the cluster exceeds a limit.
func (w *ManagementCluster) Exceeded(o *reconcile.Object, what, why string, path ...any) {
	if w.pass == nil || w.exceeded {
		return
	}
	w.exceeded = true
	w.pass.ReportBuilt(o, rule.Exceeded(finding.Finding{}, what, why), path...)
}

// ManagementClusters returns the management clusters of a repository: the clusters with an object of the product's API
// groups. For a repository without a cluster, it returns one with the objects in the files. doubts returns a cluster's
// doubts.
func ManagementClusters(p *rule.Pass, doubts func(*rule.Pass, *reconcile.Cluster) Doubt, groups ...string) []*ManagementCluster {
	var out []*ManagementCluster
	if len(p.Fleet().Clusters) == 0 {
		if objects := p.Applied(); holds(objects, groups) {
			out = append(out, newManagementCluster(nil, objects, "the repository has no cluster that shows which objects are applied together", groups))
		}
	}
	for _, c := range p.Clusters() {
		if slices.ContainsFunc(applied(c), func(k *reconcile.Kustomization) bool { return holds(k.Objects, groups) }) {
			w := ofCluster(c, groups)
			w.doubt = doubts(p, c)
			out = append(out, w)
		}
	}
	for _, w := range out {
		w.pass = p
	}
	return out
}

// holds reports whether an object belongs to one of the API groups.
func holds(objects []*reconcile.Object, groups []string) bool {
	return slices.ContainsFunc(objects, func(o *reconcile.Object) bool { return slices.Contains(groups, o.Group) })
}

// applied returns the Kustomizations that apply objects to the cluster itself, and not to a remote one.
func applied(c *reconcile.Cluster) []*reconcile.Kustomization {
	var all []*reconcile.Kustomization
	for _, k := range c.Kustomizations {
		if k.Spec.KubeConfig == nil { // or else it applies to another cluster
			all = append(all, k)
		}
	}
	return all
}

// ofCluster returns a management cluster with the objects that are applied to a cluster itself.
func ofCluster(c *reconcile.Cluster, groups []string) *ManagementCluster {
	var objects []*reconcile.Object
	partial := ""
	for _, k := range applied(c) {
		if !k.Complete() {
			partial = "Kustomization " + k.String() + " could not be fully built"
		}
		objects = append(objects, k.Objects...)
	}
	return newManagementCluster(c, objects, partial, groups)
}

func newManagementCluster(c *reconcile.Cluster, objects []*reconcile.Object, partial string, groups []string) *ManagementCluster {
	w := &ManagementCluster{
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

// Of returns the objects of one of the product's kinds.
func (w *ManagementCluster) Of(kind string) []*reconcile.Object { return w.kinds[kind] }

// Holds reports whether Git has an object of a kind.
func (w *ManagementCluster) Holds(group, kind string) bool { return w.held[[2]string{group, kind}] }

// Names returns the sorted names of the objects of a kind in a namespace.
func (w *ManagementCluster) Names(group, kind, namespace string) []string {
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

// Reference is a reference to an object, at a path of the object From. Namespace is "" for a cluster-scoped
// kind.
type Reference struct {
	From            *reconcile.Object
	Group, Kind     string
	Namespace, Name string
	Path            []any
}

// Of returns the reference at a path of an object, to an object with a kind and namespace.
func Of(from *reconcile.Object, group, kind, namespace string, path ...any) Reference {
	return Reference{From: from, Group: group, Kind: kind, Namespace: namespace, Name: from.Text(path...), Path: path}
}

func (r Reference) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Has reports whether Git has the referenced object.
func (w *ManagementCluster) Has(r Reference) bool { return w.All[r.identity()] != nil }

func (r Reference) identity() reconcile.Identity {
	return reconcile.Identity{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// Doubt returns the reason why an object that is not in Git may exist, "" if there is none.
func (w *ManagementCluster) Doubt(r Reference) string {
	switch {
	case Unknown(r.Name + r.Namespace):
		return "its name contains a variable with an unknown value"
	case w.doubt == nil:
		return w.Partial
	}
	return w.doubt(r.identity(), r.From)
}

// Dangling defines how references to missing objects are reported.
type Dangling struct {
	// There reports, for an object that is not in Git, whether it exists nevertheless. doubt is the reason if
	// that cannot be decided, "" if it can.
	There func(r Reference) (is bool, doubt string)
	// Consequence of the missing object, for the message.
	Consequence string
	// Hint returns a hint for an object without a similar name, "" if there is none. Hint may be nil.
	Hint func(r Reference) string
}

// Report reports the references to objects that do not exist as findings, and references that cannot be decided as
// unresolved.
func (d Dangling) Report(p *rule.Pass, w *ManagementCluster, references []Reference) {
	for _, r := range references {
		if r.Name == "" || w.Has(r) {
			continue
		}
		is, doubt := d.There(r)
		if is {
			continue
		}
		if doubt != "" {
			p.UnresolvedFor(r.From.Position(r.Path...), fmt.Sprintf("whether %s, which %s references, exists", r, r.From), doubt)
			continue
		}
		f := finding.Finding{Message: fmt.Sprintf("%s references %s, which does not exist: %s", r.From, r, d.Consequence)}
		if near := w.Hints.Nearest(r.Name, w.Names(r.Group, r.Kind, r.Namespace)); near != "" {
			f.Hint = fmt.Sprintf("did you mean %q?", near)
		} else if d.Hint != nil {
			f.Hint = d.Hint(r)
		}
		if other := w.inOtherNamespace(r); f.Hint == "" && other != "" {
			f.Hint = fmt.Sprintf("it exists in namespace %s, but is read in %s only", other, r.Namespace)
		}
		p.ReportBuilt(r.From, f, r.Path...)
	}
}

// inOtherNamespace returns a namespace that has an object of a reference's kind and name, "" if none has.
func (w *ManagementCluster) inOtherNamespace(r Reference) string {
	i := slices.IndexFunc(w.Objects, func(o *reconcile.Object) bool {
		return r.Namespace != "" && o.Group == r.Group && o.Kind == r.Kind && o.Name == r.Name && o.Namespace != ""
	})
	if i < 0 {
		return ""
	}
	return w.Objects[i].Namespace
}

// Hints counts the searches for similar names.
type Hints int

// mostHints is the maximum number of searches for similar names.
const mostHints = 100

// Nearest returns the name that is similar to another one. It returns "" if there is none, or if the limit of
// searches is exceeded.
func (h *Hints) Nearest(name string, names []string) string {
	if *h++; *h > mostHints {
		return ""
	}
	if near, ok := nearest.To(name, names); ok {
		return near
	}
	return ""
}

// TypoOf returns the name that another one is a typo of. It returns "" if there is none, or if the limit of comparisons
// is exceeded.
func (w *ManagementCluster) TypoOf(name string, names []string) string {
	if w.compared += len(names); w.compared > limits.Comparisons {
		if len(w.Own) > 0 {
			w.Exceeded(w.Own[0], "whether names are typos", fmt.Sprintf("the objects of its cluster need more than %d comparisons", limits.Comparisons))
		}
		return ""
	}
	near, _ := schemas.Misspelt(name, names)
	return near
}

// Unknown reports whether a string contains a variable with an unknown value.
func Unknown(text string) bool { return strings.Contains(text, "${") }
