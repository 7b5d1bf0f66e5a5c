package reconcile

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Plain returns the objects of a repository's files as written, without patches, parts of charts and files that only a
// kustomization reads. They belong to no Kustomization. It is for repositories without a cluster's root, such as a
// tenant's: how Kustomizations would change the objects is unknown.
func Plain(repo *repository.Repository) []*Object {
	var objects []*Object
	for source := range repo.Objects() {
		if use := repo.Use(source.File()); use != repository.Resource && use != repository.Plain {
			continue
		}
		if o := PlainObject(source); o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// PlainObject returns an object of a file as written, nil if it cannot be read.
func PlainObject(source *repository.Object) *Object {
	value, err := source.Value()
	fields, isMap := value.(map[string]any)
	if err != nil || !isMap {
		return nil
	}
	o := &Object{Value: fields, Source: source, Place: finding.Place{File: source.File()}, Encrypted: source.Document.Encrypted}
	o.Line, o.Column = source.Position()
	o.identify()
	return o
}
