package reconcile

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// origins finds the documents that built objects come from: kustomize itself reports only the file, and only in an
// annotation that changes the effect of patches.
type origins struct {
	documents map[string][]*repository.Object    // by kind
	named     map[[2]string][]*repository.Object // by kind and name
	exact     map[Identity][]*repository.Object
	taken     map[*repository.Object]bool
	paths     map[*repository.File]string // the path that the build used for each file
	generated []generated
	fallback  finding.Place
}

// generated is an entry of a generator with its position.
type generated struct {
	patches.Generator
	at finding.Place
}

// originsOf indexes the objects in the files that a build read. The fallback is the position of an object found in none.
func originsOf(from *builds.Files, read []string, fallback finding.Place) *origins {
	o := &origins{
		documents: map[string][]*repository.Object{}, named: map[[2]string][]*repository.Object{}, exact: map[Identity][]*repository.Object{},
		taken: map[*repository.Object]bool{}, paths: map[*repository.File]string{}, fallback: fallback,
	}
	for _, name := range read {
		repo, at := from.Holder(name)
		file, ok := repo.File(at)
		if !ok {
			continue
		}
		o.paths[file] = name
		if k, isKustomize := repo.KustomizeOf(file); isKustomize {
			o.addGenerators(k)
			continue
		}
		if use := repo.Use(at); !builds.OfResources(name) || use == repository.Patch || use == repository.Input {
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

func (o *origins) addGenerators(k *repository.Kustomize) {
	if k.Spec == nil || k.Document == nil {
		return
	}
	for _, g := range patches.Generators(k.Spec) {
		at := finding.Place{File: o.paths[k.File]}
		at.Line, at.Column = k.Document.Position(g.Field, g.Index)
		o.generated = append(o.generated, generated{g, at})
	}
}

// locate sets an object's source and position.
func (o *origins) locate(object *Object) {
	if source := o.document(object); source != nil {
		o.taken[source] = true
		object.Source, object.File = source, o.paths[source.Document.File]
		object.Line, object.Column = source.Position()
		return
	}
	at := o.fallback
	for _, g := range o.generated {
		if g.Kind == object.Kind && strings.Contains(object.Name, g.Name) {
			at = g.at
			break
		}
	}
	object.Place = at
}

// document returns the document that an object most likely comes from: of the same kind and name, or of a name that
// prefixes and suffixes were added to. kustomize sets the name of a Namespace to the target namespace, whatever its own
// name is.
func (o *origins) document(object *Object) *repository.Object {
	for _, d := range o.exact[object.Identity] {
		if !o.taken[d] {
			return d // no document fits better
		}
	}
	if best := o.best(object, o.named[[2]string{object.Kind, object.Name}]); best != nil {
		return best
	}
	documents := o.documents[object.Kind]
	if best := o.best(object, documents); best != nil || object.Kind != "Namespace" || len(documents) != 1 {
		return best
	}
	return documents[0]
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
