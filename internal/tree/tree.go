package tree

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Mode says what happens to a rendered file that is already there.
type Mode string

// The modes of a file.
const (
	// Managed files are ours: rewritten at each render, unless edited.
	Managed Mode = "managed"
	// Once files are written when absent and are the user's from then on.
	Once Mode = "once"
	// Adopted files are written by another tool too: written when absent,
	// rewritten only on request.
	Adopted Mode = "adopted"
	// Carried files are the user's data, which is carried along as it is: written
	// when absent, rewritten only where nobody else changed them, deleted only
	// where Fleetwright made them too.
	Carried Mode = "carried"
)

// modes are all that there are.
var modes = []Mode{Managed, Once, Adopted, Carried}

// knownModes lists the modes in a message.
func knownModes() string { return fmt.Sprintf("%s, %s, %s and %s", Managed, Once, Adopted, Carried) }

// Valid says whether there is such a mode.
func (m Mode) Valid() bool { return slices.Contains(modes, m) }

// File is a rendered file.
type File struct {
	// Path from the target's root, with forward slashes, clean and relative.
	Path    string
	Mode    Mode
	Content []byte
}

// Tree is a set of files with unique paths. The zero Tree is empty and ready to
// use; a Tree is not safe for concurrent writes.
type Tree struct {
	files map[string]File
}

// Add puts a file into the tree. It fails when the path is not clean, relative
// and inside of the tree, reaches into .git or .fleetwright, or is taken.
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
	// URL and Branch of the repository that Flux pulls the target from.
	URL    string
	Branch string
	// Orphan says that the branch shares a repository with another target, so
	// that it starts without a parent.
	Orphan bool
	Tree   *Tree
}
