package k0rdent

import (
	"regexp"

	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
)

// versioned matches a name that ends in a version, as kcm names the templates that it creates.
var versioned = regexp.MustCompile(`^([a-z0-9-]+?)-(\d+)-(\d+)-(\d+)(?:-[a-z0-9-]+)?$`)

// chartOf returns the chart of a template. For a template that is not in Git (nil), it is the chart of kcm whose name,
// with a version, is the name of the template.
func chartOf(template *reconcile.Object, name string) string {
	if template != nil {
		return template.Text("spec", "helm", "chartSpec", "chart")
	}
	if m := versioned.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// providersOf returns the providers that a template declares, or those of its chart if the chart is known. ok reports
// whether they are known.
func providersOf(template *reconcile.Object, name string, known func(chart string) ([]string, bool)) (providers []string, ok bool) {
	if template != nil {
		if own := template.List("spec", "providers"); len(own) > 0 {
			return texts(own), true
		}
	}
	return known(chartOf(template, name))
}

// used returns the object of a kind and name that an object in a namespace references: the one in that namespace, or the
// one in the system namespace that is distributed to it. It returns nil if Git has neither.
func (w *managementCluster) used(kind, namespace, name string) *reconcile.Object {
	if o := w.one(reconcile.Identity{Group: group, Kind: kind, Namespace: namespace, Name: name}); o != nil || namespace == system {
		return o
	}
	if is, doubt := w.isDistributed(platform.Reference{Group: group, Kind: kind, Namespace: namespace, Name: name}); !is && doubt == "" {
		return nil // reported by another rule
	}
	return w.one(reconcile.Identity{Group: group, Kind: kind, Namespace: system, Name: name})
}

// one returns the object with an identity. It returns nil if Git has none, or if the repository has no cluster and
// several objects with the identity.
func (w *managementCluster) one(id reconcile.Identity) *reconcile.Object {
	if w.Cluster == nil && w.several[id] {
		return nil
	}
	return w.All[id]
}

// needs returns the providers that the template of a cluster needs. ok reports whether they are known.
func (w *managementCluster) needs(cluster *reconcile.Object) (providers []string, ok bool) {
	name := cluster.Text("spec", "template")
	template := w.used(clusterTemplate, cluster.Namespace, name)
	if template == nil && w.off("createTemplates") {
		return nil, false // reported by another rule
	}
	return providersOf(template, name, kcm.Needs)
}

// credentialOf returns the Credential of a cluster: the one in its namespace, or the one in the system namespace that is
// distributed to it. It returns nil if Git has neither.
func (w *managementCluster) credentialOf(cluster *reconcile.Object) *reconcile.Object {
	return w.used(credential, cluster.Namespace, cluster.Text("spec", "credential"))
}
