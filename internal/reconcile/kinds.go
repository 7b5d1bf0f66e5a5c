package reconcile

import (
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/schemas"
)

// isNamespaced reports whether a kind has a namespace, as most kinds do whose definition is not available locally.
func (w *walker) isNamespaced(o *Object) bool {
	if namespaced, known := openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind}); known {
		return namespaced
	}
	return !w.clusterScoped[[2]string{o.Group, o.Kind}]
}

// addKinds adds the kinds that the cluster must serve because an object exists: its own, and the kind that it defines.
func (w *walker) addKinds(o *Object) {
	w.kinds = append(w.kinds, o.APIVersion, o.APIVersion+"/"+o.Kind)
	w.addDefinition(o.Value)
}

// addDefinition adds the kind that an object defines, if it is a CustomResourceDefinition.
func (w *walker) addDefinition(value map[string]any) {
	w.kinds = append(w.kinds, charts.KindsOf(value)...)
	if kind, isWide := clusterScoped(value); isWide {
		if w.clusterScoped == nil {
			w.clusterScoped = map[[2]string]bool{}
		}
		w.clusterScoped[kind] = true
	}
}

// clusterScoped returns the group and kind of a cluster-scoped CustomResourceDefinition.
func clusterScoped(value map[string]any) (kind [2]string, isWide bool) {
	o := Object{Value: value}
	if o.Text("kind") != "CustomResourceDefinition" || o.Text("spec", "scope") != "Cluster" {
		return kind, false
	}
	return [2]string{o.Text("spec", "group"), o.Text("spec", "names", "kind")}, true
}

// listKinds sets the sorted list of known kinds, which charts may query.
func (w *walker) listKinds() {
	if len(w.kinds) == w.listed && w.apiVersions != nil {
		return
	}
	w.listed = len(w.kinds)
	w.apiVersions = slices.Concat(builtIn(), w.kinds)
	slices.Sort(w.apiVersions)
	w.apiVersions = slices.Compact(w.apiVersions)
}

// builtIn are the API versions that any cluster serves: Flux's, and Kubernetes' own without
// alpha and beta versions, which are off by default.
var builtIn = sync.OnceValue(func() []string {
	var versions []string
	for _, gvk := range schemas.Kinds() {
		flux := strings.HasSuffix(gvk.Group, ".fluxcd.io")
		kubernetes := !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io")
		if flux || kubernetes && !strings.ContainsAny(strings.TrimPrefix(gvk.Version, "v"), "ab") {
			version := gvk.GroupVersion().String()
			versions = append(versions, version, version+"/"+gvk.Kind)
		}
	}
	return versions
})
