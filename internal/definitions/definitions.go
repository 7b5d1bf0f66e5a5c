// Package definitions reads CustomResourceDefinitions from YAML, with their positions.
package definitions

import (
	"maps"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// Read returns the CustomResourceDefinitions in files, by their names. It is the reader of a
// [schemas.Folder].
func Read(files map[string][]byte) ([]schemas.Definition, error) {
	repo, err := repository.FromFiles(maps.All(files), repository.Options{})
	if err != nil {
		return nil, err
	}
	var all []schemas.Definition
	for o := range repo.Objects() {
		if d, ok := In(o); ok {
			all = append(all, d)
		}
	}
	return all, nil
}

// In reads a CustomResourceDefinition of a repository.
func In(o *repository.Object) (schemas.Definition, bool) {
	if o.Kind != "CustomResourceDefinition" || o.Group() != "apiextensions.k8s.io" {
		return schemas.Definition{}, false
	}
	d := schemas.Definition{File: o.File(), Versions: map[string]func() (map[string]any, error){}}
	d.Line, _ = o.Position()
	d.Group, _ = o.Text("spec", "group")
	d.Kind, _ = o.Text("spec", "names", "kind")
	scope, _ := o.Text("spec", "scope")
	d.Namespaced = scope == "Namespaced"
	list := o.Lookup("spec", "versions")
	if list == nil {
		return d, true
	}
	for i := range list.Content {
		name, _ := o.Text("spec", "versions", i, "name")
		if served, _ := o.Text("spec", "versions", i, "served"); name == "" || served != "true" {
			continue
		}
		d.Versions[name] = func() (map[string]any, error) {
			value, err := o.Value("spec", "versions", i, "schema", "openAPIV3Schema")
			props, _ := value.(map[string]any)
			return props, err
		}
	}
	return d, true
}
