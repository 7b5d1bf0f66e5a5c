package v1alpha1

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/nearest"
)

// Kinds are the input kinds, in the order in which a specification is usually
// written: an empty object of each, whose Go type is named as the kind. This is
// where a kind is registered; decoding, the schemas and the reference follow it.
func Kinds() []any {
	return []any{&Fleet{}, &Cluster{}, &Addon{}, &Tenant{}, &Encryption{}, &K0rdent{}, &Kommander{}}
}

// IsKind says whether a kind is one of the input kinds.
func IsKind(name string) bool {
	_, ours := kindTypes[name]
	return ours
}

// otherKinds are the kinds of the group that are no part of a specification: the
// functionConfigs, the carrier of a rendered file, and the inventory.
var otherKinds = []string{"RenderFleet", "ValidateFleet", "VerifyBootstrap", "EncryptSecrets", "File", "Inventory"}

// IsOtherKind says whether a kind of the group is no part of a specification: only Fleetwright and
// the tools that call it read it.
func IsOtherKind(kind string) bool { return slices.Contains(otherKinds, kind) }

// toolGroups are the API groups of objects that kustomize and kpt want beside a
// specification.
var toolGroups = []string{"kustomize.config.k8s.io", "kpt.dev"}

// document decodes one object, or says why it is none of the specification's.
func (l *loader) document(file string, root *yaml.Node) {
	o := &object{file: file, root: root, unplaced: l.fromItems}
	if root.Kind != yaml.MappingNode {
		l.stray(o, root, nil, "write an object with apiVersion: "+APIVersion, "the document is %s, want an object", describe(root))
		return
	}
	apiNode, apiVersion := scalarAt(root, "apiVersion")
	kindNode, kind := scalarAt(root, "kind")
	_, name := scalarAt(root, "metadata", "name")
	o.kind, o.name = kind, name
	group, _, _ := strings.Cut(apiVersion, "/")
	_, ours := kindTypes[kind]
	_, near := nearest.To(group, []string{Group})
	switch {
	case apiVersion == APIVersion && ours:
		l.decode(o)
	case apiVersion == APIVersion && IsOtherKind(kind):
	case apiVersion == APIVersion:
		l.stray(o, kindNode, at("kind"), l.report.suggest(kind, "kind", "", kindNames()), "unknown kind %s of %s", quote(kind), APIVersion)
	case group == Group:
		l.stray(o, apiNode, at("apiVersion"), "write "+APIVersion, "unknown version %s of %s", quote(strings.TrimPrefix(apiVersion, Group+"/")), Group)
	case near && ours:
		l.stray(o, apiNode, at("apiVersion"), fmt.Sprintf("did you mean %q?", APIVersion), "%s is not a fleetwright kind", quote(apiVersion+" "+kind))
	case l.fromItems || slices.Contains(toolGroups, group):
	case apiVersion == "" || kind == "":
		l.stray(o, root, nil, "objects of a specification begin with apiVersion: "+APIVersion+" and kind: "+oneOf(kindNames()), "the object has no apiVersion or no kind")
	default:
		l.stray(o, apiNode, at("apiVersion"), "move it out of the folder of the specification, or into an add-on's resources", "%s is not a fleetwright kind", quote(apiVersion+" "+kind))
	}
}

// stray reports a document that was not decoded, so that the specification may
// lack what it was meant to define.
func (l *loader) stray(o *object, n *yaml.Node, p *fieldPath, hint, format string, args ...any) {
	l.incomplete = true
	l.report.add(o.errorAt(n, p, hint, fmt.Sprintf(format, args...)))
}

func kindNames() []string { return slices.Sorted(maps.Keys(kindTypes)) }

// scalarAt reads a scalar field of an object; without one it returns the
// object's own node and "".
func scalarAt(root *yaml.Node, names ...string) (*yaml.Node, string) {
	_, value, found := at(names...).find(root)
	if inner := dereference(value); found && inner.Kind == yaml.ScalarNode {
		return value, inner.Value
	}
	return root, ""
}

// decode decodes an object of the specification.
func (l *loader) decode(o *object) {
	if l.fromItems {
		l.itemKeys(o, o.root)
	}
	value := reflect.New(kindTypes[o.kind])
	d := &decoder{object: o, report: &l.report, table: l.table}
	d.structure(o.root, nil, value.Elem())
	o.decoded = value.Interface()
	o.meta = metaOf(o.decoded)
	canonicalMeta(o.meta)
	l.objects = append(l.objects, o)
}

// metaOf is the metadata of an object of an input kind.
func metaOf(decoded any) *ObjectMeta {
	return reflect.ValueOf(decoded).Elem().FieldByName("Metadata").Addr().Interface().(*ObjectMeta)
}

// finish builds the specification out of the decoded objects, applies the
// defaults and checks the whole.
func (l *loader) finish() (*Spec, error) {
	spec := &Spec{states: map[string]Error{}}
	c := &checker{report: &l.report, spec: spec, objects: map[any]*object{}, incomplete: l.incomplete, keyless: l.keyless}
	first := map[string]*object{}
	for _, o := range l.objects {
		id := o.kind + " " + o.name
		if earlier, taken := first[id]; taken && o.name != "" {
			key, _, _ := at("metadata", "name").find(o.root)
			l.report.add(o.errorAt(key, at("metadata", "name"), "the first stands at "+earlier.place()+"; take one of them out, or rename it", fmt.Sprintf("duplicate %s %s", o.kind, quote(o.name))))
			continue
		}
		first[id] = o
		c.objects[o.decoded] = o
		c.all = append(c.all, o)
		c.include(o)
	}
	slices.SortStableFunc(spec.Clusters, func(a, b *Cluster) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	slices.SortStableFunc(spec.Addons, func(a, b *Addon) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	slices.SortStableFunc(spec.Tenants, func(a, b *Tenant) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	if len(l.objects) == 0 && !l.incomplete {
		l.report.add(Error{Message: "no object of a specification found", Hint: "fleetwright init writes a specification to begin with"})
		return nil, l.report.err()
	}
	applyDefaults(spec)
	c.check()
	if err := l.report.err(); err != nil {
		return nil, err
	}
	return spec, nil
}

// include puts an object into the specification; a second one of a kind that it
// has once is an error.
func (c *checker) include(o *object) {
	switch x := o.decoded.(type) {
	case *Cluster:
		c.spec.Clusters = append(c.spec.Clusters, x)
	case *Addon:
		c.spec.Addons = append(c.spec.Addons, x)
	case *Tenant:
		c.spec.Tenants = append(c.spec.Tenants, x)
		_, value, _ := at("spec", "state").find(o.root)
		c.spec.states[o.name] = o.errorAt(value, at("spec", "state"), "", "")
	case *Fleet:
		c.spec.Fleet = only(c, o, c.spec.Fleet, x)
	case *Encryption:
		c.spec.Encryption = only(c, o, c.spec.Encryption, x)
	case *K0rdent:
		c.spec.K0rdent = only(c, o, c.spec.K0rdent, x)
	case *Kommander:
		c.spec.Kommander = only(c, o, c.spec.Kommander, x)
	}
}

// only keeps the first object of a kind that a specification has once, and
// reports another.
func only[T any](c *checker, o *object, first, x *T) *T {
	if first == nil {
		return x
	}
	c.single(o, c.objects[any(first)])
	return first
}

func (c *checker) single(o, earlier *object) {
	c.report.add(o.errorAt(o.root, nil, "the first stands at "+earlier.place()+"; make one of the two", fmt.Sprintf("a specification has one %s, this is another", o.kind)))
}
