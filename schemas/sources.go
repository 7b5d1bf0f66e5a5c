package schemas

import (
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Source is where a schema of a kind comes from.
type Source struct {
	// Product is the product whose schemas are embedded, "" for other sources.
	Product string
	// Definition is a CustomResourceDefinition of the repository or of a folder, nil for other sources.
	Definition *Definition
	// Folder is the file in a folder that the user named, "" for other sources.
	Folder string
}

// Sources returns the sources of the schemas that [Set.LookupIn] returns, in the same order.
func (s *Set) Sources(cluster string, gvk schema.GroupVersionKind) ([]Source, error) {
	if _, _, err := s.LookupIn(cluster, gvk); err != nil {
		return nil, err
	}
	_, isEmbedded := Lookup(gvk)
	builtIn := Source{Product: builtInProduct(gvk.Group)}
	if isEmbedded && !varies(gvk.Group) {
		return []Source{builtIn}, nil
	}
	own := slices.DeleteFunc(slices.Clone(s.definitions[gvk.GroupKind()]), func(d *Definition) bool { return d.compiled[gvk.Version] == nil })
	if applied := slices.DeleteFunc(slices.Clone(own), func(d *Definition) bool { return !slices.Contains(d.Clusters, cluster) }); len(applied) > 0 {
		return sourcesOf(applied), nil
	}
	switch {
	case isEmbedded:
		return append(sourcesOf(own), builtIn), nil
	case len(own) > 0:
		return sourcesOf(own), nil
	}
	for _, f := range s.folders {
		if found := f.sources(gvk); len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

func sourcesOf(all []*Definition) []Source {
	sources := make([]Source, len(all))
	for i, d := range all {
		sources[i].Definition = d
	}
	return sources
}

// sources returns the files of a kind in the folder, from which lookup reads the schemas.
func (f *Folder) sources(gvk schema.GroupVersionKind) []Source {
	index := f.index()
	var all []Source
	for _, d := range index.definitions[gvk.GroupKind()] {
		if d.compiled[gvk.Version] != nil {
			all = append(all, Source{Folder: d.place()})
		}
	}
	if name, found := index.find(gvk); found && len(all) == 0 {
		all = append(all, Source{Folder: path.Join(f.name, name)})
	}
	return all
}
