package tree

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Mode determines what happens to a rendered file that already exists.
type Mode string

// The modes of a file.
const (
	// Managed files are ours: they are rewritten at each render, unless edited.
	Managed Mode = "managed"
	// Once files are written if they are missing and belong to the user from then on.
	Once Mode = "once"
	// Adopted files are also written by another tool: they are written if missing, and
	// rewritten only on request.
	Adopted Mode = "adopted"
	// Carried files contain the user's data, which is copied unchanged: they are written if missing, rewritten only if no
	// user changed them, and deleted only if Fleetwright also created them.
	Carried Mode = "carried"
)

// modes are all modes.
var modes = []Mode{Managed, Once, Adopted, Carried}

// knownModes returns the modes for a message.
func knownModes() string { return fmt.Sprintf("%s, %s, %s and %s", Managed, Once, Adopted, Carried) }

// Valid reports whether the mode exists.
func (m Mode) Valid() bool { return slices.Contains(modes, m) }

// File is a rendered file.
type File struct {
	// Path relative to the target's root, with forward slashes, clean.
	Path    string
	Mode    Mode
	Content []byte
}

// Tree is a set of files with unique paths. The zero Tree is empty and ready to use. A Tree is not
// safe for concurrent writes.
type Tree struct {
	files map[string]File
}

// Add adds a file to the tree. It returns an error if the path is not clean, relative and inside of
// the tree, is in .git or .fleetwright, or already exists.
func (t *Tree) Add(f File) error {
	if err := checkGenerated(f.Path); err != nil {
		return err
	}
	if _, taken := t.files[f.Path]; taken {
		return fmt.Errorf("%q is generated twice", f.Path)
	}
	if t.files == nil {
		t.files = map[string]File{}
	}
	t.files[f.Path] = f
	return nil
}

// Get returns the file at a path.
func (t *Tree) Get(path string) (File, bool) {
	f, ok := t.files[path]
	return f, ok
}

// Paths returns the paths of all files, sorted.
func (t *Tree) Paths() []string { return slices.Sorted(maps.Keys(t.files)) }

// All yields the files in the order of their paths.
func (t *Tree) All() iter.Seq[File] {
	return func(yield func(File) bool) {
		for _, p := range t.Paths() {
			if !yield(t.files[p]) {
				return
			}
		}
	}
}

// Target is a rendered tree and the repository that it belongs to.
type Target struct {
	// Name is "platform" or "tenant-<name>".
	Name string
	// URL and Branch of the repository from which Flux pulls the target.
	URL    string
	Branch string
	// Orphan is set if the branch shares a repository with another target. The branch then starts without a parent.
	Orphan bool
	// Applied are the folders of a tenant's repository that Flux applies, sorted; "." is the whole repository.
	Applied []string
	Tree    *Tree
}
