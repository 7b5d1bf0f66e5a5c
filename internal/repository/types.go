package repository

import (
	"fmt"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/sourceignore/gitignore"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/mask"
)

// Repository is a loaded folder, set of files, or ResourceList.
type Repository struct {
	name       string
	branch     string
	files      []*File
	byPath     map[string]*File
	paths      map[string]int64
	objects    []*Object
	byKind     map[groupKind][]*Object
	kustomizes []*Kustomize
	byDir      map[string]*Kustomize
	uses       map[string]Use
	// ofSecrets are the files that secretGenerators read.
	ofSecrets map[string]bool
	charts    map[string]bool
	src       source
	limits    Limits
	// partial is set if files without objects are not available.
	partial bool
	// hidden are the paths of files that Flux doesn't see.
	hidden map[string]bool
	// beyond is the limit that the .sourceignore files exceed; nil if none.
	beyond *Error
	// bare are folders that Flux sees although it sees none of their files.
	bare     map[string]bool
	listOnce sync.Once
	// lines reads source lines; it is created when it is first needed.
	linesOnce sync.Once
	lines     *Lines
	// names are the names of objects and files, and their words.
	namesOnce sync.Once
	names     map[string]bool
	folders   map[string][]string
	// hiddenSorted are the sorted paths in hidden, submodules the folders of submodules, and ignored the patterns of each
	// .sourceignore (path of the folder → []ignoreLine); each is computed when it is first needed.
	hiddenOnce, submodulesOnce sync.Once
	hiddenSorted               []string
	submodules                 map[string]bool
	ignored                    sync.Map
	// odd maps paths that are neither a file nor a folder to a description, such as "is a symbolic link".
	odd       map[string]string
	untracked func() *untracked
}

type groupKind struct{ group, kind string }

// File is a file that contains, or should contain, YAML or JSON documents.
type File struct {
	// Path from the root, with forward slashes.
	Path string
	// Size in bytes.
	Size int64
	// Documents that could be read, without empty ones.
	Documents []*Document
	// Err is why the file, or a part of it, could not be read; nil if all was read.
	Err *Error
	// Excluded is set if Flux doesn't see the file: a .sourceignore, or source-controller's default
	// patterns, exclude it from the artifact. Its documents are parsed, but its objects are not in
	// the index.
	Excluded bool
	// Marked is set if the file may contain comments that ignore rules: it contains their
	// marker.
	Marked bool
	// Apart is set if splitting the file at the lines that start with "---", as kyaml does,
	// results in the same documents as a YAML parser.
	Apart bool
	// FromItems is set if the file came as items of a ResourceList, so that it has no lines: every
	// position in it is 0.
	FromItems bool

	chart bool
	// added is the size that aliases add to the documents.
	added expanded
}

// Reason is the category of an Error.
type Reason string

// The reasons.
const (
	// NotYAML is a file that is not valid YAML, or whose aliases contain themselves.
	NotYAML Reason = "not YAML"
	// TooLarge is a file, or a repository, above one of the limits.
	TooLarge Reason = "too large"
	// Exceeded is a file whose parsing exceeds the time or memory of a unit of work.
	Exceeded Reason = "exceeded"
	// TooDeep is a document nested deeper than the limit.
	TooDeep Reason = "nested too deep"
	// TooManyAliases is a document whose aliases expand above the limit.
	TooManyAliases Reason = "too many aliases"
	// Unreadable is a file that the operating system cannot read.
	Unreadable Reason = "unreadable"
	// NotAFile is a path outside of the repository, or that of something else than a regular file.
	NotAFile Reason = "not a file"
)

// IsLimit reports whether the reason is a fixed limit of Fleetwright.
func (r Reason) IsLimit() bool { return r == TooLarge || r == TooDeep || r == TooManyAliases }

// Error is why a file could not be read, with the place.
type Error struct {
	Reason  Reason
	Path    string
	Line    int
	Column  int
	Message string
	// Endless is set if an alias contains itself.
	Endless bool
	// Hint says how to fix the error, "" if that is unknown.
	Hint string
	// Template is set if the file looks like a Go template, which explains why it is not YAML.
	Template bool
}

// Why returns the message as a sentence with a subject.
func (e *Error) Why() string {
	if strings.HasPrefix(e.Message, "the ") || strings.HasPrefix(e.Message, "it ") {
		return e.Message
	}
	return "it " + e.Message
}

// Error returns file:line:column: message, without numbers that are 0.
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
	// Index of the document in its file, from 0; empty documents count.
	Index int
	// Line of the document's root, from 1; 0 if the file came as items.
	Line int
	// Encrypted is set if the document has SOPS metadata.
	Encrypted bool
	// Objects of the document: one, the items of a List, or none.
	Objects []*Object

	node *yaml.Node
}

// Object is a Kubernetes object in a document.
type Object struct {
	Document   *Document
	Node       *yaml.Node
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
}

// source reads files of a repository: from a folder or from memory.
type source interface {
	read(path string, limit int64) ([]byte, error)
}

// Kustomize is a kustomization file.
type Kustomize struct {
	// File and Document that contain it; Dir is the folder, "." for the root.
	File     *File
	Document *Document
	Dir      string
	// Component is set if it is of kind Component.
	Component bool
	// Spec is the kustomization decoded as leniently as kustomize does before its strict check
	// (field names in any case), with deprecated fields moved to their successors. It is nil if it
	// cannot be decoded; then Err is the reason.
	Spec *types.Kustomization
	Err  error
	// Value is the document as plain Go values, nil if it cannot be read.
	Value any
}

// Lines returns source lines of a repository for messages, with secrets hidden. It caches the files
// and is safe for concurrent use.
type Lines struct {
	repo  *Repository
	mu    sync.Mutex
	files map[string][]string
	// texts are the secrets, among which those of the files are once read is done.
	texts mask.Texts
	read  sync.Once
}

// Limits restrict the cost of loading; zero values are replaced by the defaults in package limits.
type Limits struct {
	TotalBytes            int64
	FileNodes, TotalNodes int64 // YAML nodes, estimated before a file is parsed; each takes 160 bytes of memory
	Files, Parsed         int
	Documents             int
	KeyPairs              int64 // libraries compare each key of a map with each other key
	AliasNodes            int64
	AliasBytes            int64
}

// untracked are the paths that Git does not track in a repository.
type untracked struct {
	folders map[string]bool // folders with files, whether Flux sees the files or not
	// ignored are the patterns of the .gitignore files; unsure is set if not all patterns are known.
	ignored *ignore
	unsure  bool
	mu      sync.Mutex // guards ignored: matching counts its cost
}

// ignore decides which files source-controller excludes from an artifact, with source-controller's own library: by its
// default patterns, or by the .sourceignore files instead. The files look like .gitignore but differ:
// each path is matched on its own, so that a later pattern can include a file of an ignored
// folder again.
// Source: github.com/fluxcd/pkg/artifact v0.18 storage, SourceIgnoreFilter: once there is a
// pattern, images, archives and CI files are in the artifact unless a pattern excludes them.
type ignore struct {
	// defaults apply if there is no .sourceignore pattern.
	defaults []gitignore.Pattern
	// patterns are the patterns for version control, which always apply, and the patterns of the
	// .sourceignore files: patterns of a deeper file, and later patterns, take precedence.
	patterns []gitignore.Pattern
	// control is the number of patterns for version control.
	control int
	// cost of matching all patterns with one path, and the cost so far.
	cost, spent int
	// plain caches the names that no default pattern matches.
	plain map[string]bool
	// beyond is the limit that the files exceed, "" if none, and where the file that exceeds it; first is the file that was
	// added first.
	beyond, first string
	where         string
}

// expanded is the size of a node after its aliases are followed.
type expanded struct {
	nodes, bytes int64
	// levels is the sum of the depths of the nodes, and pairs the number of pairs of keys in maps.
	levels, pairs int64
	depth         int
}
