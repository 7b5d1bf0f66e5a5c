// Package repository loads a folder, a set of files in memory or the items of a
// KRM ResourceList into documents and objects that know their file, line and
// column, indexed by kind, namespace and name.
//
// A repository is hostile input. Nothing of it is executed, nothing outside of
// its root is read, and the time and memory that it can take are bounded by
// [Limits]. What cannot be loaded is recorded in [File.Err]; it is no error.
//
// A loaded Repository is never changed and is safe for concurrent use.
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
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/output"
)

// Repository is a loaded folder.
type Repository struct {
	name       string
	files      []*File
	byPath     map[string]*File
	paths      map[string]int64
	objects    []*Object
	byKind     map[groupKind][]*Object
	kustomizes []*Kustomize
	byDir      map[string]*Kustomize
	uses       map[string]Use
	charts     map[string]bool
	src        source
	limits     Limits
	// partial says that the files without objects are not at hand.
	partial bool
	// hidden are the paths of files that Flux doesn't see.
	hidden map[string]bool
	// beyond is the limit that the .sourceignore files go beyond; nil for none.
	beyond *Error
	// bare are folders that Flux sees, and whose files it doesn't.
	bare     map[string]bool
	listOnce sync.Once
	// lines reads source lines; it is made when the first one is asked for.
	linesOnce sync.Once
	lines     *Lines
	folders   map[string][]string
	// odd are the paths of what is neither file nor folder, such as symlinks.
	odd       map[string]bool
	untracked func() *untracked
}

type groupKind struct{ group, kind string }

// File is a file that holds, or should hold, YAML or JSON documents.
type File struct {
	// Path from the root, with forward slashes.
	Path string
	// Size in bytes.
	Size int64
	// Documents that could be read, empty ones left out.
	Documents []*Document
	// Err says why the file, or a part of it, could not be read; nil if all was.
	Err *Error
	// Excluded says that Flux doesn't see the file: a .sourceignore, or a
	// default of source-controller's, leaves it out of the artifact. Its
	// documents are parsed, but its objects are not in the index.
	Excluded bool
	// Marked says that the text speaks of ignoring rules: it holds the marker of
	// such comments.
	Marked bool
	// Apart says that the text, split at the lines that start with "---" as kyaml does it,
	// falls into the same documents that a YAML parser finds.
	Apart bool
	// FromItems says that the file came as items of a ResourceList, so that it
	// has no lines: every position in it is 0.
	FromItems bool

	chart bool
	// folded is what is kept of the file in the place of its documents' nodes; nil of most files.
	folded *folded
	// added is what aliases add to the documents.
	added expanded
}

// Expanded is the size of the file in bytes with its aliases expanded.
func (f *File) Expanded() int64 { return f.Size + f.added.bytes }

// Reason says why a file could not be read.
type Reason string

// The reasons.
const (
	// NotYAML is a file that the YAML parser refuses, or whose aliases contain themselves.
	NotYAML Reason = "not YAML"
	// TooLarge is a file, or a repository, above one of the limits.
	TooLarge Reason = "too large"
	// Exceeded is a file that takes more time or memory to parse than a unit of work may.
	Exceeded Reason = "exceeded"
	// TooDeep is a document nested deeper than the limit.
	TooDeep Reason = "nested too deep"
	// TooManyAliases is a document whose aliases expand above the limit.
	TooManyAliases Reason = "too many aliases"
	// Unreadable is a file that the operating system refuses.
	Unreadable Reason = "unreadable"
)

// IsLimit says whether the reason is a fixed limit of Fleetwright's.
func (r Reason) IsLimit() bool { return r == TooLarge || r == TooDeep || r == TooManyAliases }

// Error says why a file could not be read, and where.
type Error struct {
	Reason  Reason
	Path    string
	Line    int
	Column  int
	Message string
	// Hint says how to mend it, "" where that isn't known.
	Hint string
	// Template says that the file looks like a Go template, which explains why
	// it is not YAML.
	Template bool
}

// Why is the message with a subject.
func (e *Error) Why() string {
	if strings.HasPrefix(e.Message, "the ") || strings.HasPrefix(e.Message, "it ") {
		return e.Message
	}
	return "it " + e.Message
}

// Error gives file:line:column: message, leaving out what is 0.
func (e *Error) Error() string {
	at := e.Path
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", e.Path, e.Line, max(e.Column, 1))
	}
	return at + ": " + e.Message
}

// Document is one YAML document of a file.
type Document struct {
	File *File
	// Index of the document in its file, from 0, empty ones counted.
	Index int
	// Line of the document's root, from 1; 0 where the file came as items.
	Line int
	// Encrypted says that the document carries SOPS metadata.
	Encrypted bool
	// Objects of the document: one, the items of a List, or none.
	Objects []*Object

	node *yaml.Node
	// keys of the root, where the file is folded.
	keys []string
}

// Object is a light view of a Kubernetes object in a document.
type Object struct {
	Document   *Document
	Node       *yaml.Node
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
}

// Group is the API group: "" for v1.
func (o *Object) Group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Version is the API version without its group.
func (o *Object) Version() string {
	_, version, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return o.APIVersion
	}
	return version
}

// File is the path of the object's file.
func (o *Object) File() string { return o.Document.File.Path }

// String gives kind namespace/name, as messages name an object.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Named is how to tell of a file: below the repository's name.
func (r *Repository) Named(file string) string {
	if r.name == "" || file == "" {
		return file
	}
	return path.Join(r.name, file)
}

// Local is the path of a file that Named gives.
func (r *Repository) Local(file string) string {
	if r.name == "" {
		return file
	}
	return strings.TrimPrefix(file, strings.TrimSuffix(r.name, "/")+"/")
}

// Files that hold YAML or JSON documents, in the order of their paths.
func (r *Repository) Files() []*File { return r.files }

// File returns the file at a path, if it holds documents.
func (r *Repository) File(path string) (*File, bool) {
	f, ok := r.byPath[path]
	return f, ok
}

// Paths of all regular files, documents or not, sorted.
func (r *Repository) Paths() []string {
	paths := make([]string, 0, len(r.paths))
	for p := range r.paths {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// Beyond returns what goes beyond a limit besides the files whose Err says so: a .sourceignore that is not
// followed.
func (r *Repository) Beyond() []*Error {
	if r.beyond == nil {
		return nil
	}
	return []*Error{r.beyond}
}

// Exists says whether there is a regular file at a path.
func (r *Repository) Exists(path string) bool {
	_, ok := r.paths[path]
	return ok
}

// Objects yields every object that Flux could see, in the order of files and
// documents.
func (r *Repository) Objects() iter.Seq[*Object] { return slices.Values(r.objects) }

// ByKind returns the objects of a group and kind, whatever their version, in
// the order of files and documents.
func (r *Repository) ByKind(group, kind string) []*Object {
	return r.byKind[groupKind{group, kind}]
}

// Find returns the objects of a group, kind, namespace and name. The namespace
// is the one written in the file: a kustomization may set another.
func (r *Repository) Find(group, kind, namespace, name string) []*Object {
	var found []*Object
	for _, o := range r.ByKind(group, kind) {
		if o.Namespace == namespace && o.Name == name {
			found = append(found, o)
		}
	}
	return found
}

// ReadFile reads a regular file of the repository, documents or not. The path
// is relative to the root, with forward slashes. It never leaves the root,
// neither by "..", nor by an absolute path, nor by a symlink, and refuses a
// file above Limits.ReadBytes with an [*Error].
func (r *Repository) ReadFile(path string) ([]byte, error) {
	if !fs.ValidPath(path) || path == "." || strings.Contains(path, `\`) {
		return nil, &Error{Reason: Unreadable, Path: path,
			Message: "is not a path inside of the repository: it must be relative, without \"..\""}
	}
	data, err := r.src.read(path, r.limits.ReadBytes)
	var typed *Error
	switch {
	case err == nil || errors.As(err, &typed):
		return data, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", output.Line(path), fs.ErrNotExist)
	default:
		return nil, &Error{Reason: Unreadable, Path: path, Message: "cannot be read: " + cause(err)}
	}
}

// index sorts the files and builds the look-ups. The files are complete.
func (r *Repository) index() {
	slices.SortFunc(r.files, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
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
