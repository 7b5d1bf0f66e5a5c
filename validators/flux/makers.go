package flux

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// createdKinds are the kinds that the rules check references to, and whose objects other objects may create.
var createdKinds = []string{kustomizationKind, helmReleaseKind, "GitRepository", "OCIRepository", "Bucket", "HelmRepository", "HelmChart",
	"ExternalArtifact", "ArtifactGenerator", "ImageRepository", "Provider", "ConfigMap", "Secret", "ServiceAccount", "Namespace", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob",
	"Pod", "Service", "PersistentVolumeClaim", "Role", "ClusterRole"}

// patchFields are the fields that hold patches of objects, not whole objects.
var patchFields = []string{"patches", "patch", "patchesStrategicMerge", "patchesJson6902", "postRenderers"}

// addCreated adds the objects that ResourceSets create. For some of them only the name is known.
func (w *world) addCreated() {
	for _, o := range w.cluster.Created() {
		w.add(o)
	}
	for _, o := range w.cluster.Named() {
		if w.objects[o.Identity] == nil {
			of := kind{o.Group, o.Kind}
			if w.names[of] == nil {
				w.names[of] = map[string][]string{}
			}
			w.names[of][o.Namespace] = append(w.names[of][o.Namespace], o.Name)
			w.objects[o.Identity] = append(w.objects[o.Identity], o)
		}
	}
}

// isEvaluated reports whether an object is a ResourceSet for which the names of all objects that it creates are
// known.
func (w *world) isEvaluated(o *reconcile.Object) bool {
	if o.Group != fluxapi.OperatorGroup || o.Kind != "ResourceSet" || o.HelmRelease != nil || o.ResourceSet() != nil || o.Encrypted {
		return false
	}
	return !slices.ContainsFunc(w.cluster.OpenSets, func(set reconcile.OpenSet) bool { return set.Object == o }) &&
		!slices.ContainsFunc(w.cluster.Named(), func(named *reconcile.Object) bool {
			return named.ResourceSet() == o && (unknown(named.Name) || unknown(named.Namespace))
		})
}

// addCreator records the kinds of the manifests in an object's fields: a ResourceSet, a HelmRelease with manifests in its
// values, or a custom resource with manifests may create these objects.
func (w *world) addCreator(o *reconcile.Object) {
	if o.Kind == "CustomResourceDefinition" || w.isEvaluated(o) {
		return
	}
	var walk func(value any, depth int)
	walk = func(value any, depth int) {
		switch value := value.(type) {
		case map[string]any:
			of, isText := value["kind"].(string)
			_, hasMetadata := value["metadata"].(map[string]any)
			if depth > 0 && isText && hasMetadata {
				w.note(of, o)
			}
			for name, item := range value {
				if generated := text(item, "kind"); name == "generate" && generated != "" {
					w.note(generated, o) // a generate rule of Kyverno
				}
				if !slices.Contains(patchFields, name) {
					walk(item, depth+1)
				}
			}
		case []any:
			for _, item := range value {
				walk(item, depth+1)
			}
		case string:
			w.noteText(value, o)
		}
	}
	walk(o.Value, 0)
}

// noteText records the kinds of the manifests in a string. A manifest is a kind close to an apiVersion; a kind
// alone is configuration, such as that of kube-state-metrics.
func (w *world) noteText(value string, o *reconcile.Object) {
	if !strings.Contains(value, "apiVersion") {
		return
	}
	const near = 2 // lines between apiVersion and kind, such as a comment
	version := -1 - near
	var waiting []string // the kinds in the last lines that no apiVersion precedes
	line := 0
	for text := range strings.Lines(value) {
		if line++; strings.Contains(text, "apiVersion") {
			version = line
			for _, of := range waiting {
				w.note(of, o)
			}
		}
		if waiting = append(waiting, ""); len(waiting) > near {
			waiting = waiting[1:]
		}
		_, of, found := strings.Cut(text, "kind: ")
		if !found {
			continue
		}
		of = strings.Trim(strings.TrimSpace(of), `"'`)
		if waiting[len(waiting)-1] = of; line-version <= near {
			w.note(of, o)
		}
	}
}

func (w *world) note(of string, o *reconcile.Object) {
	if slices.Contains(createdKinds, of) && w.makers[of] == nil {
		w.makers[of] = o
	}
}

// createdSecrets returns the Secrets that controllers create from the objects in Git. The namespace "*" means any
// namespace.
func (w *world) createdSecrets() map[reconcile.Identity]bool {
	created := map[reconcile.Identity]bool{}
	for _, o := range w.applied {
		for _, id := range o.Creates() {
			created[id] = true
		}
	}
	return created
}

// addCreatedNames adds the names of the objects that controllers create from objects in Git, so that references to them
// can be checked for typos.
func (w *world) addCreatedNames() {
	for id := range w.createdSecrets() {
		of := kind{id.Group, id.Kind}
		if w.names[of] == nil {
			w.names[of] = map[string][]string{}
		}
		if len(w.objects[id]) == 0 {
			w.names[of][id.Namespace] = append(w.names[of][id.Namespace], id.Name)
		}
	}
}
