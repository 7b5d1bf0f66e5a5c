package gitrepo

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// checkout updates a work tree and its index from one tree to another.
type checkout struct {
	worktree
	root  *os.Root
	disk  disk
	store objects
	// diffs are sorted by path.
	diffs   []difference
	deleted map[string]bool
	index   index
	// execBits is set if the file system stores which files are executable.
	execBits bool
	// temp is the name of temporary files, in the folder of each file that is written.
	temp string
}

// openCheckout reads the index of a work tree. The caller closes it.
func openCheckout(w worktree, d disk, store objects, config configFile, diffs []difference, temp string) (*checkout, error) {
	c := &checkout{worktree: w, disk: d, store: store, diffs: diffs, deleted: map[string]bool{}, temp: temp,
		execBits: config.isTrue("core", "filemode", true)}
	sorting.Func(c.diffs, func(a, b difference) int { return cmp.Compare(a.path, b.path) })
	for _, d := range diffs {
		if d.new == nil {
			c.deleted[d.path] = true
		}
	}
	var err error
	if c.index, err = readIndex(filepath.Join(w.git, "index")); err != nil {
		return nil, err
	}
	if c.root, err = os.OpenRoot(w.dir); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *checkout) close() error { return c.root.Close() }

// state is how the file at a path in the work tree compares with a difference.
type state int

const (
	absent state = iota
	isOld
	isNew
	// changed: a file that is neither the old nor the new one; blocked: a file cannot be written there.
	changed
	blocked
)

// stateOf returns the state of one path. It follows no link.
func (c *checkout) stateOf(d difference) (state, fs.FileInfo, error) {
	for i, r := range d.path {
		if r != '/' {
			continue
		}
		parent := d.path[:i]
		info, err := c.root.Lstat(filepath.FromSlash(parent))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return absent, nil, nil
		case err != nil:
			return blocked, nil, err
		case info.IsDir():
		case info.Mode().IsRegular() && c.deleted[parent]:
			return absent, nil, nil // the file is replaced by a folder
		default:
			return blocked, nil, nil
		}
	}
	info, err := c.root.Lstat(filepath.FromSlash(d.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent, nil, nil
	case err != nil:
		return blocked, nil, err
	case info.IsDir():
		free, err := c.givesWay(d.path)
		if free {
			return absent, nil, err
		}
		return blocked, info, err
	}
	for _, x := range []struct {
		item  *item
		state state
	}{{d.new, isNew}, {d.old, isOld}} {
		same, err := c.matches(d.path, info, x.item)
		if same || err != nil {
			return x.state, info, err
		}
	}
	return changed, info, nil
}

// givesWay reports whether a folder contains only files that the commit deletes.
func (c *checkout) givesWay(dir string) (bool, error) {
	free := true
	err := fs.WalkDir(c.root.FS(), dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !c.deleted[path] {
			free = false
			return fs.SkipAll
		}
		return err
	})
	return free, err
}

// matches reports whether the file at a path equals an item of a tree. A file that is unchanged since its
// checkout according to the index matches that version even if its bytes differ (line endings, filters).
func (c *checkout) matches(path string, info fs.FileInfo, x *item) (bool, error) {
	if x == nil || x.isGitlink() {
		return false, nil
	}
	if x.isLink() {
		if info.Mode()&fs.ModeSymlink == 0 {
			return false, nil
		}
		target, err := c.root.Readlink(filepath.FromSlash(path))
		return plumbing.ComputeHash(plumbing.BlobObject, []byte(target)) == x.hash, err
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	if c.execBits && (info.Mode()&0o100 != 0) != (x.mode == filemode.Executable) {
		return false, nil
	}
	if e, ok := c.index.find(path); ok && e.hash == x.hash && c.untouched(e, info) {
		return true, nil
	}
	hash, err := c.hashFile(path, info.Size())
	return hash == x.hash, err
}

// untouched reports whether a file has the size and time in the index, which git also compares first.
func (c *checkout) untouched(e indexEntry, info fs.FileInfo) bool {
	return e.stat[statMtime] == uint32(info.ModTime().Unix()) &&
		e.stat[statMtimeNano] == uint32(info.ModTime().Nanosecond()) &&
		e.stat[statSize] == uint32(info.Size()) && !c.index.racy(e)
}

// isClean reports whether a file has the content of its index entry.
func (c *checkout) isClean(e indexEntry) bool {
	info, err := c.root.Lstat(filepath.FromSlash(e.name))
	if err != nil || info.IsDir() {
		return err == nil && e.mode() == filemode.Submodule
	}
	same, err := c.matches(e.name, info, &item{mode: e.mode(), hash: e.hash})
	return same && err == nil
}

func (c *checkout) hashFile(path string, size int64) (plumbing.Hash, error) {
	f, err := regular.OpenIn(c.root, filepath.FromSlash(path))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer func() { _ = f.Close() }()
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	if _, err := io.Copy(h, io.LimitReader(f, size)); err != nil {
		return plumbing.ZeroHash, err
	}
	return h.Sum(), nil
}

// check returns an error that lists the paths with changes of the user: files that equal neither
// the old nor the new commit. unborn is set if there was no commit before.
func (c *checkout) check(branch string, unborn bool) error {
	dirty := &DirtyError{Branch: branch, Dir: c.dir, Unborn: unborn}
	for _, d := range c.diffs {
		what, err := c.dirt(d)
		if err != nil {
			return err
		}
		if what != "" {
			dirty.Paths = append(dirty.Paths, DirtyPath{Path: d.path, State: what})
		}
	}
	if len(dirty.Paths) > 0 {
		return dirty
	}
	return nil
}

func (c *checkout) dirt(d difference) (string, error) {
	e, tracked := c.index.find(d.path)
	if !c.indexMatches(d, e, tracked) {
		return "staged", nil
	}
	if d.new != nil && c.indexBlocks(d.path) {
		return "in the way", nil
	}
	if tracked && e.skipWorktree() || d.old.isGitlink() || d.new.isGitlink() {
		return "", nil
	}
	st, _, err := c.stateOf(d)
	switch {
	case err != nil:
		return "", err
	case st == blocked:
		return "in the way", nil
	case st == changed && d.old == nil:
		return "untracked", nil
	case st == changed:
		return "modified", nil
	case st == absent && d.old != nil && d.new != nil:
		return "deleted", nil
	}
	return "", nil
}

// indexMatches reports whether the index entry of a path equals the old or the new commit.
func (c *checkout) indexMatches(d difference, e indexEntry, tracked bool) bool {
	if !tracked || e.intentToAdd() {
		return d.old == nil || d.new == nil
	}
	for _, x := range []*item{d.old, d.new} {
		if x != nil && x.hash == e.hash && sameMode(x.mode, e.mode()) {
			return true
		}
	}
	return false
}

// sameMode compares a tree's mode with an index's, which has no deprecated form.
func sameMode(tree, index filemode.FileMode) bool {
	if tree == filemode.Deprecated {
		tree = filemode.Regular
	}
	return tree == index
}

// indexBlocks reports whether the index contains a file where a new path needs a folder,
// or the other way round, and the commit doesn't delete it.
func (c *checkout) indexBlocks(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := c.index.find(dir); ok && !c.deleted[dir] {
			return true
		}
	}
	return slices.ContainsFunc(c.index.below(name), func(e indexEntry) bool { return !c.deleted[e.name] })
}

// apply changes the files and returns the index's new content. A file that equals neither the
// old nor the new commit (it changed since the check) stays as it is, and git shows it as modified.
func (c *checkout) apply() ([]byte, error) {
	set := make(map[string]*indexEntry, len(c.diffs))
	for _, d := range slices.Backward(c.diffs) {
		if d.new != nil {
			continue
		}
		if err := c.deleteFile(d); err != nil {
			return nil, err
		}
		if e, tracked := c.index.find(d.path); tracked && c.indexMatches(d, e, tracked) {
			set[d.path] = nil
		}
	}
	for _, d := range c.diffs {
		if d.new == nil {
			continue
		}
		e, tracked := c.index.find(d.path)
		info, err := c.writeFile(d, tracked && e.skipWorktree())
		if err != nil {
			return nil, err
		}
		if c.indexMatches(d, e, tracked) && !c.indexBlocks(d.path) {
			set[d.path] = newEntry(d, e, info)
		}
	}
	return encodeIndex(c.index.edited(set, c.isClean)), nil
}

// newEntry returns a path's index entry after the commit; info is the file's info, nil if the file
// may not have the committed content.
func newEntry(d difference, was indexEntry, info fs.FileInfo) *indexEntry {
	const assumeUnchanged = 0x8000
	e := &indexEntry{name: d.path, hash: d.new.hash, flags: was.flags & assumeUnchanged, ext: was.ext & extSkipWorktree}
	if info != nil {
		fillStat(&e.stat, info)
		e.stat[statMtime] = uint32(info.ModTime().Unix())
		e.stat[statMtimeNano] = uint32(info.ModTime().Nanosecond())
		e.stat[statSize] = uint32(info.Size())
	}
	mode := d.new.mode
	if mode == filemode.Deprecated {
		mode = filemode.Regular
	}
	e.stat[statMode] = uint32(mode)
	return e
}

// deleteFile removes a file that is unchanged, and the folders that become empty.
func (c *checkout) deleteFile(d difference) error {
	st, _, err := c.stateOf(d)
	if err != nil || st == changed || st == blocked || d.old.isGitlink() {
		return err
	}
	if st == isOld {
		c.disk.at("remove", d.path)
		if err := c.root.Remove(filepath.FromSlash(d.path)); err != nil {
			return err
		}
	}
	c.pruneFolders(path.Dir(d.path))
	return nil
}

// pruneFolders removes a folder and its parents, up to the first one that isn't empty.
func (c *checkout) pruneFolders(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		name := filepath.FromSlash(dir)
		if !isFolder(c.root.Lstat(name)) {
			continue
		}
		c.disk.at("remove", dir)
		if c.root.Remove(name) != nil {
			return
		}
	}
}

// writeFile writes the new content of a file and returns the file's info afterwards; nil if the
// file was not changed.
func (c *checkout) writeFile(d difference, skip bool) (fs.FileInfo, error) {
	if skip || d.new.isGitlink() {
		return nil, nil
	}
	name := filepath.FromSlash(d.path)
	temp := filepath.Join(filepath.Dir(name), c.temp)
	if err := c.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir) {
		return nil, err
	}
	st, info, err := c.stateOf(d)
	if err != nil {
		return nil, err
	}
	switch {
	case st == isNew:
		return info, nil
	case st == isOld, st == absent && d.old == nil:
	default:
		return nil, nil
	}
	if err := c.clearWay(d.path); err != nil {
		return nil, err
	}
	if err := c.writeTemp(temp, *d.new); err != nil {
		return nil, errors.Join(err, c.root.Remove(temp))
	}
	c.disk.at("rename", d.path)
	if err := c.root.Rename(temp, name); err != nil {
		return nil, errors.Join(err, c.root.Remove(temp))
	}
	return c.root.Lstat(name)
}

// clearWay creates the folders of a path, and removes an empty folder at the path itself.
func (c *checkout) clearWay(name string) error {
	for i, r := range name {
		if r != '/' {
			continue
		}
		dir := filepath.FromSlash(name[:i])
		if _, err := c.root.Lstat(dir); err == nil {
			continue
		}
		c.disk.at("mkdir", name[:i])
		if err := c.root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return c.removeFolders(name)
}

// removeFolders removes a folder that contains nothing but empty folders.
func (c *checkout) removeFolders(name string) error {
	if !isFolder(c.root.Lstat(filepath.FromSlash(name))) {
		return nil
	}
	items, err := fs.ReadDir(c.root.FS(), name)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := c.removeFolders(name + "/" + item.Name()); err != nil {
			return err
		}
	}
	c.disk.at("remove", name)
	return c.root.Remove(filepath.FromSlash(name))
}

func (c *checkout) writeTemp(temp string, x item) (err error) {
	content, err := c.store.blob(x.hash)
	if err != nil {
		return err
	}
	c.disk.at("create", temp)
	if x.isLink() {
		return c.root.Symlink(string(content), temp)
	}
	perm := fs.FileMode(0o666)
	if x.mode == filemode.Executable {
		perm = 0o777
	}
	f, err := c.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return c.disk.halves(f, temp, content)
}

// tempFor returns the name of a commit's temporary files.
func tempFor(commit string) string { return ".fleetwright-" + strings.ToLower(commit[:12]) + ".tmp" }
