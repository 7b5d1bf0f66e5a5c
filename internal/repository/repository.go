// Package repository loads a folder, a set of files in memory or the items of a KRM ResourceList
// into documents and objects with their file, line and column, indexed by kind, namespace and name.
// A repository is hostile input. Nothing in it is executed, nothing outside of its root is read,
// and the time and memory that it can take are limited by [Limits]. A file that cannot be loaded is
// recorded in [File.Err]; it is not an error. A loaded Repository is never changed and is safe for
// concurrent use.
package repository

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Group returns the API group: "" for v1.
func (o *Object) Group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Version returns the API version without its group.
func (o *Object) Version() string {
	_, version, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return o.APIVersion
	}
	return version
}

// File returns the path of the object's file.
func (o *Object) File() string { return o.Document.File.Path }

// String returns kind namespace/name, as messages name an object.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Named returns the name of a file in messages: with the repository's name as folder, or as git names a file of a branch.
func (r *Repository) Named(file string) string {
	switch {
	case file == "":
		return file
	case r.branch != "":
		return r.branch + ":" + file
	case r.name == "":
		return file
	}
	return path.Join(r.name, file)
}

// Local returns the path of a file from its name in messages: the reverse of Named.
func (r *Repository) Local(file string) string {
	switch {
	case r.branch != "":
		return strings.TrimPrefix(file, r.branch+":")
	case r.name == "":
		return file
	}
	return strings.TrimPrefix(file, strings.TrimSuffix(r.name, "/")+"/")
}

// Files returns the files with YAML or JSON documents, in the order of their paths.
func (r *Repository) Files() []*File { return r.files }

// File returns the file at a path, if it holds documents.
func (r *Repository) File(path string) (*File, bool) {
	f, ok := r.byPath[path]
	return f, ok
}

// Paths returns the paths of all regular files, with or without documents, sorted.
func (r *Repository) Paths() []string {
	paths := make([]string, 0, len(r.paths))
	for p := range r.paths {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// Beyond returns exceeded limits that are not in the Err of a file: those of a .sourceignore that is not
// applied.
func (r *Repository) Beyond() []*Error {
	if r.beyond == nil {
		return nil
	}
	return []*Error{r.beyond}
}

// Exists reports whether there is a regular file at a path.
func (r *Repository) Exists(path string) bool {
	_, ok := r.paths[path]
	return ok
}

// Objects returns every object that Flux could see, in the order of files and documents.
func (r *Repository) Objects() iter.Seq[*Object] { return slices.Values(r.objects) }

// ByKind returns the objects of a group and kind, whatever their version, in
// the order of files and documents.
func (r *Repository) ByKind(group, kind string) []*Object {
	return r.byKind[groupKind{group, kind}]
}

// Find returns the objects with a group, kind, namespace and name. The namespace is the one in the
// file: a kustomization may set another.
func (r *Repository) Find(group, kind, namespace, name string) []*Object {
	var found []*Object
	for _, o := range r.ByKind(group, kind) {
		if o.Namespace == namespace && o.Name == name {
			found = append(found, o)
		}
	}
	return found
}

// ReadFile reads a regular file of the repository, with or without documents. The path is relative
// to the root, with forward slashes. ReadFile never leaves the root by "..", an absolute path or a
// symlink, and returns an [*Error] for a file above limits.FileBytes.
func (r *Repository) ReadFile(path string) ([]byte, error) {
	if !fs.ValidPath(path) || path == "." || strings.Contains(path, `\`) {
		return nil, &Error{Reason: NotAFile, Path: path,
			Message: "is not a path inside of the repository: it must be relative, without \"..\""}
	}
	data, err := r.src.read(path, limits.FileBytes)
	var typed *Error
	switch {
	case err == nil || errors.As(err, &typed):
		return data, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", output.Line(path), fs.ErrNotExist)
	default:
		return nil, unreadable(path, err)
	}
}

// index sorts the files and builds the indexes. The files must be complete.
func (r *Repository) index() {
	sorting.Func(r.files, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	r.byPath = make(map[string]*File, len(r.files))
	r.byKind = map[groupKind][]*Object{}
	for _, f := range r.files {
		r.byPath[f.Path] = f
		f.chart = r.inChart(f.Path)
		if f.Excluded || f.chart {
			continue
		}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				r.objects = append(r.objects, o)
				key := groupKind{o.Group(), o.Kind}
				r.byKind[key] = append(r.byKind[key], o)
			}
		}
	}
	r.indexKustomizes()
}
