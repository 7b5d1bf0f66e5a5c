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
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Staged contains the files of the next commit: the files in the index, with the staged bytes, whatever the work tree
// contains. The index is read once. Staged is safe for concurrent use.
type Staged struct {
	blobs   blobs
	below   string
	entries map[string]*index.Entry // regular files, by their paths relative to the folder
	paths   []string
	changed []string
}

// ReadStaged reads the index of the repository of a folder. Paths are relative to that folder;
// files outside of it are left out. indexFile is the index file that git names in the environment
// of a hook (GIT_INDEX_FILE, relative to the work tree's root); "" means the repository's own. If
// comparing with the last commit exceeds its bound, the error is a [bounds.Error].
func ReadStaged(dir, indexFile string) (*Staged, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, fmt.Errorf("%q is not in a git repository: %w", dir, ErrNotRepository)
	}
	l, err := findLayout(root)
	if err != nil {
		return nil, err
	}
	if l.work == "" {
		return nil, fmt.Errorf("%q has no work tree, and nothing staged: %w", dir, ErrNotRepository)
	}
	s := &Staged{entries: map[string]*index.Entry{}}
	if s.below, err = belowRoot(root, dir); err != nil {
		return nil, err
	}
	if s.blobs.store, err = openObjects(l); err != nil {
		return nil, err
	}
	s.blobs.store.bound, s.blobs.where = &bound{bytes: limits.FileBytes}, "in the index"
	switch {
	case indexFile == "":
		indexFile = filepath.Join(l.git, "index")
	case !filepath.IsAbs(indexFile):
		indexFile = filepath.Join(l.work, indexFile)
	}
	entries, err := readIndex(indexFile)
	if err != nil {
		return nil, err
	}
	head, err := headCommit(l)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if p, inside := s.local(e.Name); inside && isStagedFile(e) {
			s.entries[p] = e
			s.paths = append(s.paths, p)
		}
	}
	return s, s.blobs.store.reading("HEAD", func() error {
		tree, err := s.blobs.store.rootOf(head)
		if err != nil {
			return err
		}
		next, _ := nextTree(entries, 0)
		return s.compare(next, tree, "")
	})
}

// headCommit returns the commit that is checked out, "" before the first one.
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
		return "", fmt.Errorf("HEAD contains %q, which is not a commit: see \"git fsck\"", hash)
	}
	return hash, nil
}

func isStagedFile(e *index.Entry) bool {
	return !e.IntentToAdd && (e.Mode == filemode.Regular || e.Mode == filemode.Executable)
}

// local returns a path relative to the folder, and false if it is outside of the folder.
func (s *Staged) local(name string) (string, bool) {
	if s.below == "" {
		return name, true
	}
	return strings.CutPrefix(name, s.below+"/")
}

// Paths returns the paths of all regular files in the next commit, sorted.
func (s *Staged) Paths() []string { return s.paths }

// Changed returns the paths of the regular files that the next commit adds or changes, sorted.
func (s *Staged) Changed() []string { return s.changed }

// Size returns the size of a staged file in bytes, according to git's header; 0 if the file does not exist.
func (s *Staged) Size(p string) (int64, error) {
	e, there := s.entries[p]
	if !there {
		return 0, nil
	}
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	size, err := s.blobs.store.size(e.Hash)
	if err != nil {
		return 0, s.blobs.store.explain("blob", e.Hash, err)
	}
	return size, nil
}

// ReadFile returns the staged bytes of a file. The error wraps fs.ErrNotExist if the index does not have it as a regular
// file, and ErrLarge if it is above 10 MB; it is a [bounds.Error] if reading it exceeds its bound.
func (s *Staged) ReadFile(p string) ([]byte, error) {
	e, there := s.entries[p]
	if !there {
		return nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrNotExist}
	}
	size, err := s.Size(p)
	if err != nil {
		return nil, err
	}
	return s.blobs.read(p, e.Hash, size)
}

// node is a folder of the next commit.
type node struct {
	hash  plumbing.Hash
	items []nodeItem
}

type nodeItem struct {
	name   string
	entry  *index.Entry
	folder *node // nil for a file
}

// nextTree returns the tree that git would write for the entries of one folder, and the number of entries in it. prefix
// is the length of the folder's path, including its slash. The index is in the order of trees. The hash of a tree shows
// whether the folder changed, so that unchanged folders need not be read.
func nextTree(entries []*index.Entry, prefix int) (*node, int) {
	n := &node{}
	var data []byte
	used := 0
	for used < len(entries) {
		e := entries[used]
		if prefix > 0 && (len(e.Name) <= prefix || e.Name[:prefix] != entries[0].Name[:prefix]) {
			break
		}
		name, _, deeper := strings.Cut(e.Name[prefix:], "/")
		item := nodeItem{name: name, entry: e}
		count := 1
		mode, hash := strconv.FormatUint(uint64(e.Mode), 8), e.Hash
		if deeper {
			item.folder, count = nextTree(entries[used:], prefix+len(name)+1)
			mode, hash = "40000", item.folder.hash
		}
		used += count
		if !deeper && e.IntentToAdd || deeper && len(item.folder.items) == 0 {
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

// compare adds the files that differ from a tree of the last commit to s.changed.
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
		if was.hash == i.entry.Hash && was.mode == i.entry.Mode {
			continue
		}
		if p, inside := s.local(path.Join(dir, i.name)); inside && isStagedFile(i.entry) {
			s.changed = append(s.changed, p)
		}
	}
	return nil
}
