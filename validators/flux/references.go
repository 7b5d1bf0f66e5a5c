package flux

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// reference is a ConfigMap or Secret that a HelmRelease or Kustomization reads.
type reference struct {
	// of is the object that refers; nil for a root that has none.
	of       *reconcile.Object
	by       string
	id       reconcile.Identity
	optional bool
	// path of the entry in the object, and the key that is read, "" for all.
	path      []any
	key       string
	keyGiven  bool
	isRelease bool
}

// references are those of spec.valuesFrom and spec.postBuild.substituteFrom, of what is not
// suspended.
func (w *world) references() []reference {
	var all []reference
	for _, o := range w.applied {
		if !isHelmRelease(o) || suspended(o) {
			continue
		}
		for i, from := range list(o.Value, "spec", "valuesFrom") {
			all = append(all, reference{of: o, by: o.String(), isRelease: true,
				id:       reconcile.Identity{Kind: text(from, "kind"), Namespace: o.Namespace, Name: text(from, "name")},
				optional: field(from, "optional") == true, path: []any{"spec", "valuesFrom", i},
				key: cmp.Or(text(from, "valuesKey"), "values.yaml"), keyGiven: text(from, "valuesKey") != ""})
		}
	}
	for _, k := range w.cluster.Kustomizations {
		if k.Spec.PostBuild == nil || k.Spec.Suspend {
			continue
		}
		for i, from := range k.Spec.PostBuild.SubstituteFrom {
			all = append(all, reference{of: k.Object, by: kustomizationKind + " " + k.String(),
				id:       reconcile.Identity{Kind: from.Kind, Namespace: k.Namespace, Name: from.Name},
				optional: from.Optional, path: []any{"spec", "postBuild", "substituteFrom", i}})
		}
	}
	return slices.DeleteFunc(all, func(r reference) bool {
		return r.id.Name == "" || r.id.Kind != "ConfigMap" && r.id.Kind != "Secret"
	})
}

// field is the path of a field of the entry.
func (r reference) field(name string) []any { return append(slices.Clone(r.path), name) }

// placeOfReference is where a field of a reference stands.
func (w *world) placeOfReference(r reference, name, value string) place {
	if r.of == nil {
		root := w.cluster.Root
		return place{root.File, root.Line, root.Column}
	}
	return w.locate(r.of, value, r.field(name)...)
}

// madeSecrets are the Secrets that other controllers make of the objects in Git. A namespace
// "*" stands for any.
func (w *world) madeSecrets() map[reconcile.Identity]bool {
	made := map[reconcile.Identity]bool{}
	for _, o := range w.applied {
		for _, id := range o.Makes() {
			made[id] = true
		}
	}
	return made
}

// hashed matches what kustomize adds to the names of generated ConfigMaps and Secrets.
var hashed = regexp.MustCompile(`^-[bcdfghkm2456789t]{10}$`)

// generated is a ConfigMap or Secret whose name is that of a reference with a hash behind it.
func (w *world) generated(id reconcile.Identity) (string, bool) {
	for _, name := range w.names[kind{id.Group, id.Kind}][id.Namespace] {
		if rest, ok := strings.CutPrefix(name, id.Name); ok && hashed.MatchString(rest) {
			return name, true
		}
	}
	return "", false
}

// isHashed says whether a name ends in kustomize's hash.
func isHashed(o *reconcile.Object) bool {
	return o.Source == nil && len(o.Name) > 11 && hashed.MatchString(o.Name[len(o.Name)-11:])
}

// configDoubt says why a ConfigMap or Secret that is not in Git may be there nevertheless.
func (w *world) configDoubt(id reconcile.Identity) string {
	if unknown(id.Name) || unknown(id.Namespace) {
		return "its name contains a variable with an unknown value"
	}
	if why := w.doubt(id); why != "" {
		return why
	}
	if id.Kind == "Secret" && !w.misspelt(id) {
		return "it may be created by hand or by a controller"
	}
	for _, namespace := range w.inNamespaces(kind{id.Group, id.Kind}, id.Name) {
		original := w.objects[reconcile.Identity{Group: id.Group, Kind: id.Kind, Namespace: namespace, Name: id.Name}][0]
		if isCopied(original) {
			return fmt.Sprintf("a controller may copy it from namespace %q", namespace)
		}
	}
	if o := w.inFiles(id); o != nil && !w.read[o.File()] {
		line, _ := o.Position()
		return fmt.Sprintf("%s:%d defines it, and no Kustomization applies that file", o.File(), line)
	}
	return ""
}

// chartDoubt says whether a release in the namespace may bring an object: its name begins with
// the release's. The reader itself doesn't: it reads before it installs its chart.
func (w *world) chartDoubt(id reconcile.Identity, reader *reconcile.Object) string {
	for prefix := id.Name; ; {
		i := strings.LastIndexByte(prefix, '-')
		if i < 0 {
			return ""
		}
		prefix = prefix[:i]
		if o := w.releases[release{id.Namespace, prefix}]; o != nil && o != reader {
			return fmt.Sprintf("the chart of %s may create it", o)
		}
	}
}

// isCopied says whether an annotation of an object asks a controller to copy it.
func isCopied(o *reconcile.Object) bool {
	annotations, _ := field(o.Value, "metadata", "annotations").(map[string]any)
	for name := range annotations {
		for _, copier := range []string{"replicat", "reflect", "kubed", "config-syncer", "copy"} {
			if strings.Contains(name, copier) {
				return true
			}
		}
	}
	return false
}
