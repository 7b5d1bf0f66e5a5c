package reconcile

import (
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// origins finds the documents that built objects come from: kustomize itself tells only the
// file, and only by an annotation that changes what patches do.
type origins struct {
	documents map[string][]*repository.Object    // by kind
	named     map[[2]string][]*repository.Object // by kind and name
	exact     map[Identity][]*repository.Object
	taken     map[*repository.Object]bool
	generated []generated
	fallback  place
}

// generated is an entry of a generator.
type generated struct {
	kind, name string
	place
}

type place struct {
	file         string
	line, column int
}

// originsOf indexes what the files that a build read hold. What is found nowhere else comes
// from the fallback.
func originsOf(repo *repository.Repository, read []string, fallback place) *origins {
	o := &origins{
		documents: map[string][]*repository.Object{}, named: map[[2]string][]*repository.Object{}, exact: map[Identity][]*repository.Object{},
		taken: map[*repository.Object]bool{}, fallback: fallback,
	}
	for _, name := range read {
		file, ok := repo.File(name)
		if !ok {
			continue
		}
		if k, isKustomize := kustomizeIn(repo, file); isKustomize {
			o.addGenerators(k)
			continue
		}
		if use := repo.Use(name); use == repository.Patch || use == repository.Input {
			continue
		}
		for _, d := range file.Documents {
			for _, object := range d.Objects {
				o.documents[object.Kind] = append(o.documents[object.Kind], object)
				key := [2]string{object.Kind, object.Name}
				o.named[key] = append(o.named[key], object)
				id := Identity{object.Group(), object.Kind, object.Namespace, object.Name}
				o.exact[id] = append(o.exact[id], object)
			}
		}
	}
	return o
}

func kustomizeIn(repo *repository.Repository, file *repository.File) (*repository.Kustomize, bool) {
	if !repository.IsKustomization(file.Path) {
		return nil, false
	}
	if k, ok := repo.KustomizeAt(path.Dir(file.Path)); ok && k.File == file {
		return k, true
	}
	for _, k := range repo.Kustomizes() {
		if k.File == file {
			return k, true
		}
	}
	return nil, false
}

func (o *origins) addGenerators(k *repository.Kustomize) {
	if k.Spec == nil || k.Document == nil {
		return
	}
	add := func(kind, field string, i int, name string) {
		g := generated{kind: kind, name: name, place: place{file: k.File.Path}}
		g.line, g.column = k.Document.Position(field, i)
		o.generated = append(o.generated, g)
	}
	for i, g := range k.Spec.ConfigMapGenerator {
		add("ConfigMap", "configMapGenerator", i, g.Name)
	}
	for i, g := range k.Spec.SecretGenerator {
		add("Secret", "secretGenerator", i, g.Name)
	}
}

// locate sets an object's source and position.
func (o *origins) locate(object *Object) {
	if source := o.document(object); source != nil {
		o.taken[source] = true
		object.Source, object.File = source, source.File()
		object.Line, object.Column = source.Position()
		return
	}
	at := o.fallback
	for _, g := range o.generated {
		if g.kind == object.Kind && strings.Contains(object.Name, g.name) {
			at = g.place
			break
		}
	}
	object.File, object.Line, object.Column = at.file, at.line, at.column
}

// document is the one that an object most likely comes from: of the same kind and name, or
// of a name that prefixes and suffixes were added to.
func (o *origins) document(object *Object) *repository.Object {
	for _, d := range o.exact[object.Identity] {
		if !o.taken[d] {
			return d // there is no better one
		}
	}
	if best := o.best(object, o.named[[2]string{object.Kind, object.Name}]); best != nil {
		return best
	}
	return o.best(object, o.documents[object.Kind])
}

func (o *origins) best(object *Object, documents []*repository.Object) *repository.Object {
	var best *repository.Object
	score := 0
	for _, d := range documents {
		if s := o.score(d, object); s > score {
			best, score = d, s
		}
	}
	return best
}

func (o *origins) score(d *repository.Object, object *Object) int {
	if d.Name == "" || !strings.Contains(object.Name, d.Name) {
		return 0
	}
	s := min(len(d.Name), 500)
	if d.Name == object.Name {
		s = 1000
	}
	if d.Group() == object.Group {
		s += 2000
	}
	switch d.Namespace {
	case object.Namespace:
		s += 200
	case "":
		s += 100
	}
	if !o.taken[d] {
		s += 400
	}
	return s
}
