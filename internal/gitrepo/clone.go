package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/fleetwright/fleetwright/internal/limits"
)

const (
	// mostHistory is the maximum number of commits that are searched to determine whether a local branch is behind its
	// remote's.
	mostHistory = 10_000
	// mostPacked is the maximum number of bytes that are read of a list of references.
	mostPacked = 64 << 20
	// mostTags is the maximum length of a chain of tags that point to tags.
	mostTags  = 10
	tagPrefix = "refs/tags/"
)

// Clone reads the branches and tags in the repository of a work tree. Unlike [ReadRevision], it is safe for a stranger's
// work tree even if the user names no revision: it reads only the folder's own .git, and follows no symlink and no list
// of alternates out of it. It follows a linked work tree if the main repository lists it. It is safe for concurrent use.
type Clone struct {
	files   billy.Filesystem
	common  string
	config  configFile
	partial bool
	folder  objectFolder
	cache   cache.Object
}

// OpenClone opens the repository of a work tree at its root. It returns false if the folder is not the root of a work tree,
// or if the repository has an unsupported format.
func OpenClone(dir string) (*Clone, bool) {
	common, ok := ownGit(dir)
	if !ok {
		return nil, false
	}
	c := &Clone{files: regularFiles{osfs.New(common, osfs.WithBoundOS())}, common: common, partial: isPartial(common), cache: cache.NewObjectLRU(32 * cache.MiByte)}
	data, err := c.read("config", maxConfig)
	if err != nil {
		return nil, false
	}
	if c.config, err = parseConfig(filepath.Join(common, "config"), data); err != nil || c.config.checkFormat() != nil {
		return nil, false
	}
	if c.folder, err = openFolder(c.files); err != nil {
		return nil, false
	}
	return c, true
}

// ownGit returns the folder with the objects and references of a work tree's repository: its .git, or, for a linked
// work tree, the .git of the repository that lists the work tree.
func ownGit(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	dir = resolved(dir)
	git := filepath.Join(dir, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		_, err := os.Lstat(filepath.Join(git, "commondir"))
		return git, errors.Is(err, os.ErrNotExist)
	case !info.Mode().IsRegular():
		return "", false
	}
	linked, err := readGitFile(git)
	if err != nil || filepath.Base(filepath.Dir(linked)) != "worktrees" {
		return "", false
	}
	back, err := readBounded(filepath.Join(linked, "gitdir"), 1<<16)
	if err != nil || resolved(resolveIn(linked, strings.TrimSpace(string(back)))) != resolved(git) {
		return "", false
	}
	return filepath.Dir(filepath.Dir(linked)), true
}

// read reads up to most bytes of a file of the repository.
func (c *Clone) read(name string, most int64) (data []byte, err error) {
	f, err := c.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, most))
}

// ReadRef lists the files of a branch or tag, "refs/heads/NAME" or "refs/tags/NAME", as ReadRevision does. For a branch
// it uses the local branch, or the remote-tracking branch if that is ahead or if no local branch exists; it prefers a
// remote for whose URL isRepository is true. It returns nil if the clone does not have the branch or tag.
func (c *Clone) ReadRef(ctx context.Context, ref string, isRepository func(url string) bool) (*Revision, error) {
	if plumbing.ReferenceName(ref).Validate() != nil {
		return nil, nil //nolint:nilerr // no reference can have this name
	}
	store := objects{
		Storage: filesystem.NewStorageWithOptions(c.files, c.cache, filesystem.Options{}), common: c.common, partial: c.partial,
		bound: &bound{bytes: limits.FileBytes, opened: true, folders: []objectFolder{c.folder}, cache: c.cache},
	}
	name := c.find(store, ref, isRepository)
	if name == "" {
		return nil, nil
	}
	short := strings.TrimPrefix(shortRef(strings.TrimPrefix(name, tagPrefix)), "refs/remotes/")
	r := &Revision{revision: short, blobs: blobs{store: store, where: "at " + short}, files: map[string]revisionFile{}}
	err := store.reading(short, func() error {
		err := c.list(ctx, r, store, plumbing.NewHash(c.hash(name)))
		if errors.Is(err, plumbing.ErrObjectNotFound) && c.partial {
			return incomplete(short, "its folders")
		}
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			return fmt.Errorf("%s: an object of it is not in this clone", short)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// list lists the files of a commit, or of the commit that a tag points to.
func (c *Clone) list(ctx context.Context, r *Revision, store objects, hash plumbing.Hash) error {
	o, err := store.EncodedObject(plumbing.AnyObject, hash)
	for range mostTags {
		if err != nil || o.Type() != plumbing.TagObject {
			break
		}
		tag := &object.Tag{}
		if err = tag.Decode(o); err == nil {
			o, err = store.EncodedObject(plumbing.AnyObject, tag.Target)
		}
	}
	if err != nil {
		return err
	}
	commit, err := object.DecodeCommit(store, o)
	if err != nil {
		return fmt.Errorf("%s is not a commit: %w", r.revision, err)
	}
	tree, err := object.GetTree(store, commit.TreeHash)
	if err != nil {
		return err
	}
	w := treeWalk{ctx: ctx, store: store, files: r.files, seen: map[plumbing.Hash]int64{}, trees: map[plumbing.Hash]*object.Tree{}}
	return w.folder(tree, "", 0)
}

// find returns the full name of the reference to use for a branch or tag, "" if none exists.
func (c *Clone) find(store objects, ref string, isRepository func(url string) bool) string {
	branch, isBranch := strings.CutPrefix(ref, branchPrefix)
	own := c.hash(ref)
	if !isBranch {
		if own == "" {
			return ""
		}
		return ref
	}
	theirs := c.tracking(branch, isRepository)
	switch {
	case own == "":
		return theirs
	case theirs == "" || c.hash(theirs) == own:
		return ref
	}
	if behind, err := isAncestorWithin(store, own, c.hash(theirs), mostHistory); err == nil && behind {
		return theirs
	}
	return ref
}

// tracking returns the name of the remote-tracking reference of a branch: of a remote with the repository's URL, else of
// origin, else of any remote; "" if none exists.
func (c *Clone) tracking(branch string, isRepository func(url string) bool) string {
	best, rank := "", 0
	for _, remote := range c.config.remotes() {
		is := 1
		switch {
		case isRepository(remote.url):
			is = 3
		case remote.name == "origin":
			is = 2
		}
		name := "refs/remotes/" + remote.name + "/" + branch
		if is > rank && plumbing.ReferenceName(name).Validate() == nil && c.hash(name) != "" {
			best, rank = name, is
		}
	}
	return best
}

// hash returns the hash that a reference points to, loose before packed; "" if it doesn't exist or is symbolic.
func (c *Clone) hash(ref string) string {
	data, err := c.read(ref, 1<<16)
	value := strings.TrimSpace(string(data))
	if err != nil {
		f, err := c.files.Open("packed-refs")
		if err != nil {
			return ""
		}
		defer func() { _ = f.Close() }()
		_ = eachPackedIn(io.LimitReader(f, mostPacked), func(name, hash string) bool { // a damaged list does not contain the reference
			if name == ref {
				value = hash
			}
			return value == ""
		})
	}
	if !plumbing.IsHash(value) || len(value) != 40 {
		return ""
	}
	return value
}
