package k0rdent

import (
	"regexp"

	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
)

// versioned is a name that ends in a version, as kcm names the templates that it makes.
var versioned = regexp.MustCompile(`^([a-z0-9-]+?)-(\d+)-(\d+)-(\d+)(?:-[a-z0-9-]+)?$`)

// chartOf is the chart of a template of a name; nil stands for one that isn't in Git, which is
// kcm's own where its name is the chart's with a version.
func chartOf(template *reconcile.Object, name string) string {
	if template != nil {
		return template.Text("spec", "helm", "chartSpec", "chart")
	}
	if m := versioned.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// providersOf are those that a template says itself, or its chart where that is one of some; ok
// says that they are known.
func providersOf(template *reconcile.Object, name string, known func(chart string) ([]string, bool)) (providers []string, ok bool) {
	if template != nil {
		if own := template.List("spec", "providers"); len(own) > 0 {
			return texts(own), true
		}
	}
	return known(chartOf(template, name))
}

// used is the object of a name that something in a namespace uses: the one there, or that of the
// system namespace of which it gets a copy; nil where Git has neither.
func (w *world) used(kind, namespace, name string) *reconcile.Object {
	if o := w.one(reconcile.Identity{Group: group, Kind: kind, Namespace: namespace, Name: name}); o != nil || namespace == system {
		return o
	}
	if is, doubt := w.handed(platform.Reference{Group: group, Kind: kind, Namespace: namespace, Name: name}); !is && doubt == "" {
		return nil // told by another rule
	}
	return w.one(reconcile.Identity{Group: group, Kind: kind, Namespace: system, Name: name})
}

// one is the object of an identity, nil where Git has none, or, without a cluster that says which
// is meant, several.
func (w *world) one(id reconcile.Identity) *reconcile.Object {
	if w.Cluster == nil && w.several[id] {
		return nil
	}
	return w.All[id]
}

// needs are the providers that the template of a cluster needs; ok says that they are known.
func (w *world) needs(cluster *reconcile.Object) (providers []string, ok bool) {
	name := cluster.Text("spec", "template")
	template := w.used(clusterTemplate, cluster.Namespace, name)
	if template == nil && w.off("createTemplates") {
		return nil, false // told by another rule
	}
	return providersOf(template, name, kcm.Needs)
}

// credentialOf is the Credential of a cluster: that in its namespace, or that of the system
// namespace of which it is a copy; nil where Git has neither.
func (w *world) credentialOf(cluster *reconcile.Object) *reconcile.Object {
	return w.used(credential, cluster.Namespace, cluster.Text("spec", "credential"))
}
