package builds

import (
	"errors"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// file adds the objects of a file to a level.
func (l *lister) file(to *level, file string) error {
	if known, ok := l.view.Repo.File(file); ok {
		if objects, ok := l.plain(known); ok {
			return to.add(objects...)
		}
	}
	text, err := l.view.ReadFile(absolute(file))
	if err != nil {
		return errNotSimple
	}
	resources, err := parsed(l.factory, text)
	if err != nil {
		return errNotSimple
	}
	for _, r := range resources {
		if rare[r.GetKind()] || forKustomize(r.GetAnnotations()) {
			return errNotSimple
		}
		o := member{id: effective(r.CurId())}
		o.Kind, o.Name = r.GetKind(), r.GetName()
		if l.changing {
			o.resource = r
		} else if o.Result, o.failed = l.finished(r); errors.Is(o.failed, errNotSimple) {
			return errNotSimple
		}
		if err := to.add(o); err != nil {
			return err
		}
	}
	return nil
}

// plainFile holds the objects of a file, which all builds share.
type plainFile struct {
	once    sync.Once
	objects []member
	plain   bool
}

// plainKey identifies a plainFile.
type plainKey struct {
	file      string
	variables bool
}

// plain returns the objects of a file as the repository has parsed them, and false if kustomize
// might read them differently.
func (l *lister) plain(file *repository.File) ([]member, bool) {
	if !file.Apart || l.view.out.touches(file.Path) || file.Err != nil || repository.IsKustomization(file.Path) || !l.view.isFile(file.Path) {
		return nil, false
	}
	loaded, _ := l.view.plain.LoadOrStore(plainKey{file.Path, l.variables}, &plainFile{})
	p := loaded.(*plainFile)
	p.once.Do(func() { p.objects, p.plain = plainObjects(file, l.variables) })
	return p.objects, p.plain && l.view.note(file.Path, int(file.Size), &content{}) == nil
}

// plainObjects returns the objects of a file if all of them are plain.
func plainObjects(file *repository.File, variables bool) ([]member, bool) {
	objects := make([]member, len(file.Documents))
	for i, d := range file.Documents {
		var ok bool
		if objects[i], ok = plainObject(d, variables); !ok {
			return nil, false
		}
	}
	return objects, true
}

// plainObject returns the object in a document, and false if kustomize might read it differently.
func plainObject(d *repository.Document, variables bool) (o member, ok bool) {
	if len(d.Objects) != 1 || d.Objects[0].Node != d.Root() || strings.HasSuffix(d.Objects[0].Kind, "List") ||
		!isPlain(d.Root(), true) || !plainFields(d.Root()) || !keepsReferences(d.Objects[0].Kind, d.Root()) {
		return o, false
	}
	value, err := repository.Value(d.File.Path, d.Root())
	if err == nil {
		value, ok = jsonValue(value)
	}
	if !ok || variables && !isExact(value) || !plainHead(value) {
		return o, false
	}
	source := d.Objects[0]
	o.document = d
	o.Kind, o.Name, o.Value = source.Kind, source.Name, value.(map[string]any)
	o.Variables, o.instructed = variables && mentionsVariable(value), instructs(d.Root())
	group, version := resid.ParseGroupVersion(source.APIVersion)
	o.id = effective(resid.NewResIdWithNamespace(resid.NewGvk(group, version, source.Kind), source.Name, source.Namespace))
	return o, true
}

// plainFields reports whether all keys are strings, and no value has an explicit type or is a date, an infinite number
// or NaN.
func plainFields(n *yaml.Node) bool {
	if n.Style&yaml.TaggedStyle != 0 || n.Tag == "!!timestamp" || n.Tag == "!!float" && !strings.ContainsAny(n.Value, "0123456789") {
		return false
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Tag != "!!str" || !plainFields(child) {
			return false
		}
	}
	return true
}

// plainHead reports whether the fields of an object that kustomize reads all exist and have the right
// type, and no annotation is meant for kustomize itself.
func plainHead(value any) bool {
	object, _ := value.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, isSet := metadata["namespace"]
	text, isText := namespace.(string)
	if !isString(object["apiVersion"]) || !isString(object["kind"]) || name == "" || isSet && (!isText || text == "") {
		return false
	}
	for _, field := range []string{"labels", "annotations"} {
		all, isSet := metadata[field]
		fields, _ := all.(map[string]any)
		if isSet && len(fields) == 0 || forKustomize(fields) {
			return false
		}
		for _, v := range fields {
			if !isString(v) {
				return false
			}
		}
	}
	return true
}

func isString(value any) bool {
	_, ok := value.(string)
	return ok
}

// forKustomize reports whether one of the annotations is meant for kustomize.
func forKustomize[T any](annotations map[string]T) bool {
	for name := range annotations {
		if strings.Contains(name, "config.kubernetes.io/") || strings.Contains(name, "config.k8s.io/") {
			return true
		}
	}
	return false
}

// effective returns an id in the form in which kustomize compares it.
func effective(id resid.ResId) resid.ResId {
	id.Namespace = id.EffectiveNamespace()
	return id
}

// parsed parses the objects in a string as kustomize does. It turns kustomize's panics into errors.
func parsed(factory *resource.Factory, text []byte) (resources []*resource.Resource, err error) {
	defer func() {
		if recover() != nil {
			err = errNotSimple
		}
	}()
	return factory.SliceFromBytes(text)
}
