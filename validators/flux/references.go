package flux

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// reference is a ConfigMap or Secret that a HelmRelease or Kustomization reads.
type reference struct {
	// of is the object that has the reference; nil for a root that has no object.
	of       *reconcile.Object
	by       string
	id       reconcile.Identity
	optional bool
	// path is the path of the entry in the object. The key is the one that is read, "" for all.
	path       []any
	key        string
	hasKeyName bool
	isRelease  bool
	// whyExpected is the reason why Git is expected to create a missing Secret; "" if it may have been created by hand.
	// severity is the severity of the finding in that case.
	whyExpected string
	severity    finding.Severity
}

// references returns the entries of spec.valuesFrom and spec.postBuild.substituteFrom of all objects that are
// not suspended.
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
				key: cmp.Or(text(from, "valuesKey"), "values.yaml"), hasKeyName: text(from, "valuesKey") != ""})
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

// field returns the path of a field of the entry.
func (r reference) field(name string) []any { return append(slices.Clone(r.path), name) }

// placeOfReference returns the place of a field of a reference.
func (w *world) placeOfReference(r reference, name, value string) finding.Place {
	if r.of == nil {
		root := w.cluster.Root
		return root.Place
	}
	return w.locate(r.of, value, r.field(name)...)
}

// hashed matches the suffix that kustomize adds to the names of generated ConfigMaps and Secrets.
var hashed = regexp.MustCompile(`^-[bcdfghkm2456789t]{10}$`)

// generated returns the name of a generated ConfigMap or Secret: the name of the reference with a hash suffix.
func (w *world) generated(id reconcile.Identity) (string, bool) {
	for _, name := range w.names[kind{id.Group, id.Kind}][id.Namespace] {
		if rest, ok := strings.CutPrefix(name, id.Name); ok && hashed.MatchString(rest) {
			return name, true
		}
	}
	return "", false
}

// isHashed reports whether the name of an object ends in kustomize's hash.
func isHashed(o *reconcile.Object) bool {
	return o.Source == nil && len(o.Name) > 11 && hashed.MatchString(o.Name[len(o.Name)-11:])
}

// byHand is the reason why a Secret that is not in Git may exist.
const byHand = "it may be created by hand or by a controller"

// configDoubt returns the reason why a ConfigMap or Secret that is not in Git may exist nevertheless; "" if
// there is none.
func (w *world) configDoubt(id reconcile.Identity, of *reconcile.Object) string {
	if unknown(id.Name) || unknown(id.Namespace) {
		return "its name contains a variable with an unknown value"
	}
	if why := w.doubtOf(id, of); why != "" {
		return why
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
	if id.Kind == "Secret" {
		return byHand
	}
	return ""
}

// chartDoubt returns the reason why a HelmRelease in the namespace may create an object: the object's name
// begins with the release's name. The release that reads the object does not count, because it reads it before
// its chart is installed.
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

// copiers are parts of the names of annotations that ask a controller to copy an object. fillers are parts of annotations
// that ask a controller to write the object's data.
var (
	copiers = []string{"replicat", "reflect", "kubed", "config-syncer", "copy"}
	fillers = append([]string{"generate", "inject"}, copiers...)
)

// isCopied reports whether an annotation of an object asks a controller to copy it.
func isCopied(o *reconcile.Object) bool {
	_, copied := annotatedWith(o, copiers)
	return copied
}

// filledBy returns the annotation that asks a controller to write the data of an object, and whether there is
// one.
func filledBy(o *reconcile.Object) (string, bool) { return annotatedWith(o, fillers) }

// annotatedWith returns the first annotation of an object whose name contains one of the parts. It ignores
// annotations of Flux and kustomize, and those of the Flux Operator, whose copies are known.
func annotatedWith(o *reconcile.Object, parts []string) (string, bool) {
	annotations, _ := field(o.Value, "metadata", "annotations").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		domain, _, _ := strings.Cut(name, "/")
		if strings.HasSuffix(domain, "fluxcd.io") || strings.HasSuffix(domain, "kubernetes.io") || domain == fluxapi.OperatorGroup && o.ResourceSet() != nil {
			continue
		}
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) }) {
			return name, true
		}
	}
	return "", false
}
