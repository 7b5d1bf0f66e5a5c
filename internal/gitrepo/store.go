package gitrepo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// objects reads the object store of a repository.
type objects struct {
	*filesystem.Storage
	partial bool
	// fresh holds objects that are not written yet; may be nil.
	fresh *memory.Storage
	// bound limits how much of an object is read; nil for objects that git's own protocol reads.
	bound *bound
	// common is the folder of the repository that contains its objects.
	common string
}

// EncodedObject returns an object; it searches the unwritten objects first.
func (s objects) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	if s.fresh != nil {
		if o, err := s.fresh.EncodedObject(kind, hash); err == nil {
			return o, nil
		}
	}
	if s.bound != nil {
		return s.bounded(kind, hash)
	}
	return s.Storage.EncodedObject(kind, hash)
}

func openObjects(l layout) (objects, error) {
	alternates, err := checkAlternates(filepath.Join(l.common, "objects", "info", "alternates"))
	if err != nil {
		return objects{}, err
	}
	opts := filesystem.Options{LargeObjectThreshold: 64 << 20}
	if alternates {
		opts.AlternatesFS = regularFiles{osfs.New(filepath.VolumeName(l.common) + string(filepath.Separator))}
	}
	_, partial := l.config.get("extensions", "partialclone")
	partial = partial || isPartial(l.common)
	store := filesystem.NewStorageWithOptions(regularFiles{osfs.New(l.common)}, cache.NewObjectLRU(32*cache.MiByte), opts)
	return objects{Storage: store, partial: partial, common: l.common, bound: &bound{bytes: limits.Committed}}, nil
}

// whole returns a store that reads objects of any size, for fetches and pushes.
func (s objects) whole() objects {
	s.bound = nil
	return s
}

// checkAlternates reports whether the repository borrows objects from others. It returns an error
// for relative paths: go-git looks for them in the wrong place.
func checkAlternates(path string) (bool, error) {
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !filepath.IsAbs(line) {
			return false, fmt.Errorf("%w: %s names the relative path %q: write an absolute path, or run \"git repack -a -d\" and remove that file", ErrUnsupported, path, line)
		}
	}
	return true, lines.Err()
}

// explain adds to an error why an object may be missing.
func (s objects) explain(what string, hash plumbing.Hash, err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) && s.partial {
		return fmt.Errorf("%s %s is not in this partial clone: run \"git fetch --refetch --no-filter\", or use a full clone: %w", what, hash, err)
	}
	return fmt.Errorf("reading %s %s: %w", what, hash, err)
}

// commit reads a commit by its hash in hexadecimal.
func (s objects) commit(hash string) (*object.Commit, error) {
	c, err := object.GetCommit(s, plumbing.NewHash(hash))
	if err != nil {
		return nil, s.explain("commit", plumbing.NewHash(hash), err)
	}
	return c, nil
}

// rootOf returns the tree of a commit; the zero hash for the hash "".
func (s objects) rootOf(hash string) (plumbing.Hash, error) {
	if hash == "" {
		return plumbing.ZeroHash, nil
	}
	c, err := s.commit(hash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.TreeHash, nil
}

// entries returns the entries of a tree; none for the zero hash.
func (s objects) entries(of plumbing.Hash) ([]object.TreeEntry, error) {
	if of.IsZero() {
		return nil, nil
	}
	t, err := object.GetTree(s, of)
	if err != nil {
		return nil, s.explain("tree", of, err)
	}
	for _, e := range t.Entries {
		if err := checkComponent(e.Name); err != nil {
			return nil, fmt.Errorf("tree %s: %w", of, err)
		}
	}
	return t.Entries, nil
}

// blob reads a file's content.
func (s objects) blob(hash plumbing.Hash) ([]byte, error) {
	b, err := object.GetBlob(s, hash)
	if err != nil {
		return nil, s.explain("blob", hash, err)
	}
	r, err := b.Reader()
	if err != nil {
		return nil, s.explain("blob", hash, err)
	}
	defer func() { _ = r.Close() }()
	data := make([]byte, b.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, s.explain("blob", hash, err)
	}
	return data, nil
}

// aSubmodule is the name of a submodule in a tree.BlockedError.
const aSubmodule = "a submodule"

// kindOf returns the name of a tree entry's kind in a tree.BlockedError.
func kindOf(mode filemode.FileMode) string {
	switch mode {
	case filemode.Symlink:
		return tree.ASymlink
	case filemode.Submodule:
		return aSubmodule
	case filemode.Dir:
		return tree.AFolder
	}
	return tree.AFile
}

// item is the mode and hash of an entry in a tree.
type item struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

// difference is a path whose file differs between two trees; old or new is nil if the file does not exist in that tree.
type difference struct {
	path     string
	old, new *item
}

// diffTrees compares two trees file by file, in no particular order.
func (s objects) diffTrees(before, after plumbing.Hash) ([]difference, error) {
	var out []difference
	err := s.diffInto(before, after, "", &out)
	return out, err
}

func (s objects) diffInto(before, after plumbing.Hash, prefix string, out *[]difference) error {
	if before == after {
		return nil
	}
	olds, err := s.entries(before)
	if err != nil {
		return err
	}
	news, err := s.entries(after)
	if err != nil {
		return err
	}
	byName := make(map[string]item, len(olds))
	for _, e := range olds {
		byName[e.Name] = item{e.Mode, e.Hash}
	}
	for _, e := range news {
		old, ok := byName[e.Name]
		delete(byName, e.Name)
		now := &item{e.Mode, e.Hash}
		var was *item
		if ok {
			was = &old
		}
		if err := s.diffItem(was, now, prefix+e.Name, out); err != nil {
			return err
		}
	}
	for _, e := range olds {
		if old, gone := byName[e.Name]; gone {
			if err := s.diffItem(&old, nil, prefix+e.Name, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// diffItem compares one name in two trees, and descends into folders on either side.
func (s objects) diffItem(was, now *item, path string, out *[]difference) error {
	if was != nil && now != nil && *was == *now {
		return nil
	}
	var before, after plumbing.Hash
	d := difference{path: path, old: was, new: now}
	if was != nil && was.mode == filemode.Dir {
		before, d.old = was.hash, nil
	}
	if now != nil && now.mode == filemode.Dir {
		after, d.new = now.hash, nil
	}
	if d.old != nil || d.new != nil {
		*out = append(*out, d)
	}
	return s.diffInto(before, after, path+"/", out)
}

// checkComponent returns an error for a name that HFS or NTFS treat as .git, as git's verify_path does (CVE-2014-9390).
func checkComponent(name string) error {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1 // HFS ignores these characters
		}
		return r
	}, name)
	plain, _, _ = strings.Cut(plain, ":") // an NTFS stream
	plain = strings.ToLower(strings.TrimRight(plain, " ."))
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%q is not a file name: want a clean path relative to the root", name)
	case plain == ".git" || plain == "git~1":
		return fmt.Errorf("%q reaches into the git folder", name)
	}
	return nil
}

// isGitlink reports whether an item is a submodule.
func (x *item) isGitlink() bool { return x != nil && x.mode == filemode.Submodule }
