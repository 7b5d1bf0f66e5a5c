package repository

import (
	"fmt"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/sourceignore/gitignore"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
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

// source reads files of a repository: from a folder or from memory.
type source interface {
	read(path string, limit int64) ([]byte, error)
}

// Kustomize is a kustomization file.
type Kustomize struct {
	// File and Document that hold it; Dir is the folder, "." for the root.
	File     *File
	Document *Document
	Dir      string
	// Component says that it is of kind Component.
	Component bool
	// Spec is the kustomization decoded as leniently as kustomize does before
	// its strict check (names of fields in any case), deprecated fields moved
	// to their successors. Nil when it cannot be decoded; Err says why.
	Spec *types.Kustomization
	Err  error
	// Value is the document as plain Go values, nil when it cannot be read.
	Value any
}

// Lines gives source lines of a repository for messages, with secrets hidden.
// It keeps the files that it read and is safe for concurrent use.
type Lines struct {
	repo  *Repository
	mu    sync.Mutex
	files map[string]*masked
	// built replaces the values of all files that builds read; nil until it is asked for.
	built *strings.Replacer
	// known are texts that no file's lines show, and hideKnown replaces them; nil until it is asked for.
	known     map[string]bool
	hideKnown *strings.Replacer
}

// masked are the lines of a file with what can be a secret hidden.
type masked struct {
	lines []string
	// values that were hidden, which no message shows either.
	values []string
	// hide replaces them in a text; it is made when the first message comes.
	hide func() *strings.Replacer
	// shown are how many characters are left of the lines that were cut, by their numbers.
	shown map[int]int
	// unnoted says that what is hidden may be in messages.
	unnoted bool
}

// folded is the text of a file whose documents are not kept as nodes.
type folded struct {
	text   []byte
	limits Limits
	once   sync.Once
}

// Limits bound what loading may cost. A zero field takes its default.
type Limits struct {
	// FileBytes is the size up to which a YAML file is parsed.
	FileBytes int64
	// ReadBytes is the size up to which ReadFile reads any file.
	ReadBytes int64
	// TotalBytes is the size of all YAML files together.
	TotalBytes int64
	// FileNodes bounds the YAML nodes of one file, estimated before it is
	// parsed; a node takes 160 bytes of memory.
	FileNodes int64
	// TotalNodes bounds the YAML nodes of all files. In a repository of more than 8 bytes for each of so
	// many, it is a node for each 8 bytes, up to mostNodes.
	TotalNodes int64
	// Files is the number of files and folders that are visited, Parsed that of the files among them that
	// may hold documents.
	Files, Parsed int
	// Documents is the number of documents in one file.
	Documents int
	// Depth is how deep a document may nest, aliases followed, and folders.
	Depth int
	// Levels bounds the nodes of one document, each counted as often as it is deep:
	// libraries copy what is in a map for each map around it, and what an alias stands
	// for at each alias. TotalLevels bounds those of all documents that are deep.
	Levels, TotalLevels int64
	// KeyPairs bounds the pairs of keys in the maps of one document: libraries
	// compare each key of a map with each other. TotalKeyPairs bounds those of all
	// documents, where they are more than a few.
	KeyPairs, TotalKeyPairs int64
	// AliasNodes and AliasBytes bound the nodes and the text of one document after
	// its aliases expand, where it has any.
	AliasNodes, AliasBytes int64
	// TotalAliasNodes and TotalAliasBytes bound what aliases add to all documents.
	TotalAliasNodes, TotalAliasBytes int64
}

// untracked is what Git leaves out of a repository's commits.
type untracked struct {
	folders map[string]bool // with files, whether Flux sees them or not
	// ignored are the patterns of the .gitignore files; unsure says that they are not all known.
	ignored *ignore
	unsure  bool
	mu      sync.Mutex // matching counts what it costs
}

// ignore decides what source-controller leaves out of an artifact, by its own library: its
// defaults, or the .sourceignore files in their place. They look like .gitignore's and differ:
// each path is matched on its own, so that a later pattern takes a file back from an ignored
// folder.
// Source: github.com/fluxcd/pkg/artifact v0.18 storage, SourceIgnoreFilter: once there is a
// pattern, images, archives and CI files are in the artifact unless it says otherwise.
type ignore struct {
	// defaults count where no .sourceignore says anything.
	defaults []gitignore.Pattern
	// patterns are those about version control, which always count, and those of the
	// .sourceignore files: the ones of a deeper file, or later ones, win.
	patterns []gitignore.Pattern
	// control is the number of patterns about version control.
	control int
	// cost of trying all patterns on one path, and what deciding cost so far.
	cost, spent int
	// plain remembers the names that no default pattern matches.
	plain map[string]bool
	// beyond says that the files go beyond a limit: why, and which file does, the first one that was
	// added where they do together.
	beyond, first string
	where         string
}

// expanded is what a node comes to once its aliases are followed.
type expanded struct {
	nodes, bytes int64
	// levels are how deep the nodes are, pairs those of the keys of maps.
	levels, pairs int64
	depth         int
}
