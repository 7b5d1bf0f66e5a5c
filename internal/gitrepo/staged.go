package gitrepo

import (
	"crypto/sha1"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Staged is what the next commit of a repository holds: the files of the index,
// with the bytes that were added to it, whatever the work tree has made of them
// since. It is read once, and safe for concurrent use.
type Staged struct {
	blobs   blobs
	below   string
	entries map[string]indexEntry // regular files, by their paths from the folder
	paths   []string
	changed []string
}

// ReadStaged reads the index of the repository around a folder. Paths are from
// that folder, and what lies outside of it is left out. An index file that git
// names in the environment of a hook (GIT_INDEX_FILE, from the work tree's root)
// takes the place of the repository's own; "" is that one. A commit that takes too
// much to compare with is a [bounds.Error].
func ReadStaged(dir, indexFile string) (*Staged, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, fmt.Errorf("%q is in no git repository: %w", dir, ErrNotRepository)
	}
	l, err := findLayout(root)
	if err != nil {
		return nil, err
	}
	if l.work == "" {
		return nil, fmt.Errorf("%q has no work tree, and nothing staged: %w", dir, ErrNotRepository)
	}
	s := &Staged{entries: map[string]indexEntry{}}
	if s.below, err = belowRoot(root, dir); err != nil {
		return nil, err
	}
	if s.blobs.store, err = openObjects(l); err != nil {
		return nil, err
	}
	s.blobs.store.bound, s.blobs.where = &bound{bytes: MostFileBytes}, "in the index"
	switch {
	case indexFile == "":
		indexFile = filepath.Join(l.git, "index")
	case !filepath.IsAbs(indexFile):
		indexFile = filepath.Join(l.work, indexFile)
	}
	x, err := readIndex(indexFile)
	if err != nil {
		return nil, err
	}
	head, err := headCommit(l)
	if err != nil {
		return nil, err
	}
	for _, e := range x.entries {
		if p, inside := s.local(e.name); inside && isStagedFile(e) {
			s.entries[p] = e
			s.paths = append(s.paths, p)
		}
	}
	return s, s.blobs.store.reading("HEAD", func() error {
		tree, err := s.blobs.store.rootOf(head)
		if err != nil {
			return err
		}
		next, _ := nextTree(x.entries, 0)
		return s.compare(next, tree, "")
	})
}

// headCommit is the commit that is checked out, "" before the first.
func headCommit(l layout) (string, error) {
	ref, err := headOf(l.git)
	if err != nil {
		return "", err
	}
	if ref != "" {
		return readRef(l.common, ref)
	}
	data, err := readBounded(filepath.Join(l.git, "HEAD"), 1<<16)
	if err != nil {
		return "", err
	}
	hash := strings.TrimSpace(string(data))
	if !plumbing.IsHash(hash) {
		return "", fmt.Errorf("HEAD holds %q and no commit: see \"git fsck\"", hash)
	}
	return hash, nil
}

func isStagedFile(e indexEntry) bool {
	return !e.intentToAdd() && (e.mode() == filemode.Regular || e.mode() == filemode.Executable)
}

// local is a path from the folder, false where it lies outside of it.
func (s *Staged) local(name string) (string, bool) {
	if s.below == "" {
		return name, true
	}
	return strings.CutPrefix(name, s.below+"/")
}

// Paths are those of all regular files that the next commit holds, sorted.
func (s *Staged) Paths() []string { return s.paths }

// Changed are the paths of the regular files that the next commit adds or
// changes, sorted.
func (s *Staged) Changed() []string { return s.changed }

// Size is that of a file that was staged, as far as git's header can be believed; 0 where none is.
func (s *Staged) Size(p string) (int64, error) {
	e, there := s.entries[p]
	if !there {
		return 0, nil
	}
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	size, err := s.blobs.store.size(e.hash)
	if err != nil {
		return 0, s.blobs.store.explain("blob", e.hash, err)
	}
	return size, nil
}

// ReadFile reads the bytes that were staged. The error wraps fs.ErrNotExist where
// no regular file is, and ErrLarge for a file above 10 MB, and is a [bounds.Error] for
// one that takes too much to read.
func (s *Staged) ReadFile(p string) ([]byte, error) {
	e, there := s.entries[p]
	if !there {
		return nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrNotExist}
	}
	size, err := s.Size(p)
	if err != nil {
		return nil, err
	}
	return s.blobs.read(p, e.hash, size)
}

// node is a folder of the next commit.
type node struct {
	hash  plumbing.Hash
	items []nodeItem
}

type nodeItem struct {
	name   string
	entry  indexEntry
	folder *node // nil for a file
}

// nextTree is the tree that git would write of entries, which all lie in one
// folder, whose path with its slash has a length. The index is in the order that
// trees want. The names of trees say which folders are as they were: nothing of
// those is read.
func nextTree(entries []indexEntry, prefix int) (*node, int) {
	n := &node{}
	var data []byte
	used := 0
	for used < len(entries) {
		e := entries[used]
		if prefix > 0 && (len(e.name) <= prefix || e.name[:prefix] != entries[0].name[:prefix]) {
			break
		}
		name, _, deeper := strings.Cut(e.name[prefix:], "/")
		item := nodeItem{name: name, entry: e}
		count := 1
		mode, hash := strconv.FormatUint(uint64(e.stat[statMode]), 8), e.hash
		if deeper {
			item.folder, count = nextTree(entries[used:], prefix+len(name)+1)
			mode, hash = "40000", item.folder.hash
		}
		used += count
		if !deeper && e.intentToAdd() || deeper && len(item.folder.items) == 0 {
			continue
		}
		n.items = append(n.items, item)
		data = append(append(append(append(append(data, mode...), ' '), name...), 0), hash[:]...)
	}
	sum := sha1.New()
	fmt.Fprintf(sum, "tree %d\x00", len(data))
	sum.Write(data)
	copy(n.hash[:], sum.Sum(nil))
	return n, used
}

// compare gathers what differs from a tree of the last commit.
func (s *Staged) compare(next *node, tree plumbing.Hash, dir string) error {
	if next.hash == tree {
		return nil
	}
	entries, err := s.blobs.store.entries(tree)
	if err != nil {
		return err
	}
	before := make(map[string]item, len(entries))
	for _, e := range entries {
		before[e.Name] = item{e.Mode, e.Hash}
	}
	for _, i := range next.items {
		was := before[i.name]
		if i.folder != nil {
			if was.mode != filemode.Dir {
				was.hash = plumbing.ZeroHash
			}
			if err := s.compare(i.folder, was.hash, path.Join(dir, i.name)); err != nil {
				return err
			}
			continue
		}
		if was.hash == i.entry.hash && was.mode == i.entry.mode() {
			continue
		}
		if p, inside := s.local(path.Join(dir, i.name)); inside && isStagedFile(i.entry) {
			s.changed = append(s.changed, p)
		}
	}
	return nil
}
