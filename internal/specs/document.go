package specs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// toolGroups are the API groups of objects that kustomize and kpt need next to a
// specification.
var toolGroups = []string{"kustomize.config.k8s.io", "kpt.dev"}

// document decodes one object, or reports why it does not belong to a specification.
func (l *loader) document(file string, root *yaml.Node) {
	o := &strict.Object{File: file, Root: root, Unplaced: l.fromItems}
	if root.Kind != yaml.MappingNode {
		l.stray(o, root, nil, "write an object with apiVersion: "+v1alpha1.APIVersion, "the document is %s, want an object", strict.Describe(root))
		return
	}
	apiNode, apiVersion := scalarAt(root, "apiVersion")
	kindNode, kind := scalarAt(root, "kind")
	_, name := scalarAt(root, "metadata", "name")
	o.Kind, o.Name = kind, name
	group, _, _ := strings.Cut(apiVersion, "/")
	_, ours := v1alpha1.KindTypes[kind]
	_, near := nearest.To(group, []string{v1alpha1.Group})
	switch {
	case apiVersion == v1alpha1.APIVersion && ours:
		l.decode(o)
	case apiVersion == v1alpha1.APIVersion && v1alpha1.IsOtherKind(kind):
	case apiVersion == v1alpha1.APIVersion:
		l.stray(o, kindNode, strict.At("kind"), l.report.Suggest(kind, "kind", "", kindNames()), "unknown kind %s of %s", strict.Quote(kind), v1alpha1.APIVersion)
	case group == v1alpha1.Group:
		l.stray(o, apiNode, strict.At("apiVersion"), "write "+v1alpha1.APIVersion, "unknown version %s of %s", strict.Quote(strings.TrimPrefix(apiVersion, v1alpha1.Group+"/")), v1alpha1.Group)
	case near && ours:
		l.stray(o, apiNode, strict.At("apiVersion"), fmt.Sprintf("did you mean %q?", v1alpha1.APIVersion), "%s is not a fleetwright kind", strict.Quote(apiVersion+" "+kind))
	case l.fromItems || slices.Contains(toolGroups, group):
	case apiVersion == "" || kind == "":
		l.stray(o, root, nil, "set apiVersion: "+v1alpha1.APIVersion+" and kind: "+strict.OneOf(kindNames()), "the object has no apiVersion or no kind")
	default:
		l.stray(o, apiNode, strict.At("apiVersion"), "move it out of the folder of the specification, or into an add-on's resources", "%s is not a fleetwright kind", strict.Quote(apiVersion+" "+kind))
	}
}

// stray reports a document that was not decoded. The specification is then incomplete.
func (l *loader) stray(o *strict.Object, n *yaml.Node, p *strict.Path, hint, format string, args ...any) {
	l.incomplete = true
	l.report.Add(o.ErrorAt(n, p, hint, fmt.Sprintf(format, args...)))
}

func kindNames() []string { return slices.Sorted(maps.Keys(v1alpha1.KindTypes)) }

// scalarAt returns a scalar field of an object and its value; without the field it returns the
// object's own node and "".
func scalarAt(root *yaml.Node, names ...string) (*yaml.Node, string) {
	_, value, found := strict.At(names...).Find(root)
	if inner := strict.Dereference(value); found && inner.Kind == yaml.ScalarNode {
		return value, inner.Value
	}
	return root, ""
}

// decode decodes an object of the specification.
func (l *loader) decode(o *strict.Object) {
	if l.fromItems {
		l.itemKeys(o, o.Root)
	}
	o.Decoded = reflect.New(v1alpha1.KindTypes[o.Kind]).Interface()
	strict.DecodeInto(o, o.Decoded, l.table, &l.report)
	canonicalMeta(metaOf(o.Decoded))
	l.objects = append(l.objects, o)
}

// metaOf returns the metadata of an object of an input kind.
func metaOf(decoded any) *v1alpha1.ObjectMeta {
	return reflect.ValueOf(decoded).Elem().FieldByName("Metadata").Addr().Interface().(*v1alpha1.ObjectMeta)
}

// tooled are the prefixes of annotations that kpt and kustomize add to an object.
var tooled = []string{"config.kubernetes.io/", "internal.config.kubernetes.io/", "config.k8s.io/", "kustomize.config.k8s.io/"}

// canonicalMeta removes what tools add to metadata, so that a specification is the same wherever it
// is read from.
func canonicalMeta(m *v1alpha1.ObjectMeta) {
	maps.DeleteFunc(m.Annotations, func(name, _ string) bool {
		return slices.ContainsFunc(tooled, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
	if len(m.Annotations) == 0 {
		m.Annotations = nil
	}
	if len(m.Labels) == 0 {
		m.Labels = nil
	}
}
