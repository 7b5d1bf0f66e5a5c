package gitrepo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Change is the change of one file of the branch.
type Change struct {
	// Path from the branch's root, with forward slashes, clean and relative.
	Path string
	// Content is the new content of the file. An existing file keeps its mode; a new one is a
	// regular file that is not executable.
	Content []byte
	// Delete removes the file. A file that does not exist is ignored.
	Delete bool

	// hash is the hash of the content as git stores it, if git converts the content. Git has stored it already.
	hash plumbing.Hash
}

// checkPath returns an error for paths that git wouldn't check out: absolute and unclean paths,
// and names that a file system may treat as .git.
func checkPath(path string) error {
	for part := range strings.SplitSeq(path, "/") {
		if err := checkComponent(part); err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
	}
	if strings.ContainsAny(path, "\x00\\") {
		return fmt.Errorf("path %q has a NUL or a backslash: want forward slashes", path)
	}
	return nil
}

// memBlob is a blob that shares its bytes with the change: a plumbing.MemoryObject would copy them.
type memBlob struct {
	plumbing.MemoryObject
	content []byte
	hash    plumbing.Hash
}

func newMemBlob(content []byte) *memBlob {
	b := &memBlob{content: content, hash: plumbing.ComputeHash(plumbing.BlobObject, content)}
	b.SetType(plumbing.BlobObject)
	return b
}

func (b *memBlob) Hash() plumbing.Hash { return b.hash }
func (b *memBlob) Size() int64         { return int64(len(b.content)) }
func (b *memBlob) Reader() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b.content)), nil
}

// editor builds the trees of a commit on top of existing trees, in memory.
type editor struct {
	store objects
	fresh *memory.Storage
	// order lists the new objects in the order in which they were created.
	order []plumbing.Hash
}

func newEditor(store objects) *editor {
	return &editor{store: store, fresh: memory.NewStorage()}
}

// add stores an object that the repository may lack.
func (e *editor) add(o plumbing.EncodedObject) (plumbing.Hash, error) {
	hash := o.Hash()
	if e.fresh.HasEncodedObject(hash) == nil {
		return hash, nil
	}
	e.order = append(e.order, hash)
	return e.fresh.SetEncodedObject(o)
}

// encoder is a tree or commit of go-git.
type encoder interface {
	Encode(plumbing.EncodedObject) error
}

func (e *editor) addEncoded(x encoder) (plumbing.Hash, error) {
	o := &plumbing.MemoryObject{}
	if err := x.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return e.add(o)
}

// sortChanges checks and sorts the paths. It returns an error if a path occurs twice.
func sortChanges(changes []Change) ([]Change, error) {
	sorted := slices.Clone(changes)
	sorting.Func(sorted, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for i, c := range sorted {
		if err := checkPath(c.Path); err != nil {
			return nil, err
		}
		if i > 0 && sorted[i-1].Path == c.Path {
			return nil, fmt.Errorf("path %q is changed twice", c.Path)
		}
	}
	return sorted, nil
}

// apply returns the hash of a tree after the changes, which are all below dir. The zero
// hash is an empty tree, for the argument and for the result.
func (e *editor) apply(of plumbing.Hash, dir string, changes []Change) (plumbing.Hash, error) {
	entries, err := e.store.entries(of)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	byName := make(map[string]item, len(entries))
	for _, x := range entries {
		byName[x.Name] = item{x.Mode, x.Hash}
	}
	var errs []error
	for name, group := range groups(dir, changes) {
		now, err := e.applyName(byName[name], dir+name, group)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if now.hash.IsZero() {
			delete(byName, name)
		} else {
			byName[name] = now
		}
	}
	if err := errors.Join(errs...); err != nil {
		return plumbing.ZeroHash, err
	}
	return e.makeTree(byName)
}

func (e *editor) makeTree(byName map[string]item) (plumbing.Hash, error) {
	if len(byName) == 0 {
		return plumbing.ZeroHash, nil
	}
	t := &object.Tree{}
	for name, x := range byName {
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: x.mode, Hash: x.hash})
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return e.addEncoded(t)
}

// group contains the changes at a name: to the name itself, and below it.
type group struct {
	self  *Change
	below []Change
}

// groups groups sorted changes below dir by their next path element, in order.
func groups(dir string, changes []Change) func(yield func(string, group) bool) {
	return func(yield func(string, group) bool) {
		var names []string
		byName := map[string]*group{}
		for i, c := range changes {
			name, _, deeper := strings.Cut(c.Path[len(dir):], "/")
			g := byName[name]
			if g == nil {
				g = &group{}
				byName[name], names = g, append(names, name)
			}
			if deeper {
				g.below = append(g.below, c)
			} else {
				g.self = &changes[i]
			}
		}
		for _, name := range names {
			if !yield(name, *byName[name]) {
				return
			}
		}
	}
}

// writes reports whether a change in the group isn't a deletion.
func (g group) writes() bool {
	return slices.ContainsFunc(g.below, func(c Change) bool { return !c.Delete })
}

// applyName applies the changes at one name of a tree.
func (e *editor) applyName(was item, path string, g group) (item, error) {
	kind := ""
	if !was.hash.IsZero() {
		kind = kindOf(was.mode)
	}
	if kind == tree.ASymlink || kind == aSubmodule {
		return item{}, inTheWay(path, g, kind)
	}
	if g.self != nil && !g.self.Delete && g.writes() {
		return item{}, fmt.Errorf("path %q is written both as a file and as a folder", path)
	}
	now := was
	if kind == tree.AFile {
		if g.writes() && (g.self == nil || !g.self.Delete) {
			return item{}, inTheWay(path, g, kind)
		}
		if g.self != nil && g.self.Delete {
			now = item{}
		}
	}
	if len(g.below) > 0 && (kind == tree.AFolder || now.hash.IsZero()) {
		hash, err := e.apply(now.hash, path+"/", g.below)
		if err != nil {
			return item{}, err
		}
		now = item{mode: filemode.Dir, hash: hash}
	}
	if g.self == nil || g.self.Delete {
		return now, nil
	}
	if kind == tree.AFolder && !now.hash.IsZero() {
		return item{}, inTheWay(path, g, kind)
	}
	return e.writeFile(was, kind, g.self)
}

// inTheWay returns the error for an object at a path that the changes would write.
func inTheWay(at string, g group, kind string) error {
	path := at
	if g.self == nil {
		path = g.below[0].Path
	}
	return fmt.Errorf("%w in the branch, and is not replaced: move it away, or render to another path",
		&tree.BlockedError{Path: path, At: at, What: kind})
}

func (e *editor) writeFile(was item, kind string, c *Change) (item, error) {
	now := item{mode: filemode.Regular, hash: c.hash}
	if kind == tree.AFile {
		now.mode = was.mode
	}
	if !now.hash.IsZero() {
		return now, nil
	}
	blob := newMemBlob(c.Content)
	if now.hash = blob.hash; now == was {
		return was, nil
	}
	_, err := e.add(blob)
	return now, err
}
