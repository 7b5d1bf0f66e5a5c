package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// ErrNoRevision is returned if a repository does not have a revision; the error is an [advice.Error].
var ErrNoRevision = errors.New("no such revision")

// Revision contains the files of a folder at a revision. It is safe for concurrent use.
type Revision struct {
	revision string
	blobs    blobs
	files    map[string]revisionFile
}

type revisionFile struct {
	hash plumbing.Hash
	size int64
	// missing is set if the clone is partial and lacks the file.
	missing bool
}

// ReadRevision lists the files of a folder at a revision of the repository that contains
// the folder: a commit, branch, tag or anything else that git rev-parse accepts, such as
// HEAD~1. The paths are relative to the folder, with forward slashes. Symlinks and submodules
// are left out. Nothing in the repository's configuration is run. If listing the files exceeds its bound,
// the error is a [bounds.Error].
func ReadRevision(ctx context.Context, dir, revision string) (*Revision, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, fmt.Errorf("%q is not in a git repository: %w", dir, ErrNotRepository)
	}
	below, err := belowRoot(root, dir)
	if err != nil {
		return nil, err
	}
	repo, store, err := openRepository(root)
	if err != nil {
		return nil, fmt.Errorf("opening the repository of %q: %w", dir, err)
	}
	r := &Revision{revision: revision, blobs: blobs{store: store, where: "at " + revision}, files: map[string]revisionFile{}}
	err = store.reading(revision, func() error {
		tree, err := treeAt(repo, revision, below)
		if errors.Is(err, plumbing.ErrObjectNotFound) && store.partial && !errors.Is(err, ErrNoRevision) {
			return incomplete(revision, "its folders")
		}
		if tree == nil || err != nil {
			return err
		}
		w := treeWalk{ctx: ctx, store: store, files: r.files, seen: map[plumbing.Hash]int64{}, trees: map[plumbing.Hash]*object.Tree{}}
		err = w.folder(tree, "", 0)
		if errors.Is(err, plumbing.ErrObjectNotFound) && store.partial {
			return incomplete(revision, "its folders")
		}
		if err != nil {
			return fmt.Errorf("reading revision %q: %w", revision, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// treeAt returns the tree of a folder at a revision; nil if the folder did not exist.
func treeAt(repo *gogit.Repository, revision, below string) (*object.Tree, error) {
	hash, err := repo.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return nil, noRevision(repo, revision, err)
	}
	commit, err := repo.CommitObject(*hash)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not a commit", ErrNoRevision, revision)
	}
	tree, err := commit.Tree()
	if err == nil && below != "" {
		if tree, err = tree.Tree(below); errors.Is(err, object.ErrDirectoryNotFound) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading revision %q: %w", revision, err)
	}
	return tree, nil
}

// Sizes returns the paths of the files with their sizes in bytes.
func (r *Revision) Sizes() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for path, f := range r.files {
			if !yield(path, f.size) {
				return
			}
		}
	}
}

// ReadFile reads a file of the revision. The error wraps fs.ErrNotExist if the file does not exist, and ErrLarge if it is
// above 10 MB; it is a [bounds.Error] if reading it exceeds its bound.
func (r *Revision) ReadFile(path string) ([]byte, error) {
	f, ok := r.files[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	if f.missing {
		return nil, incomplete(r.revision, path)
	}
	return r.blobs.read(path, f.hash, f.size)
}

// incomplete returns the error that a partial clone lacks a part of a revision, with the hint that a comparison of two
// revisions lets git fetch all missing contents of files that differ.
func incomplete(revision, what string) error {
	return advice.New(
		fmt.Errorf("%s at %s: this is a partial clone, which has not fetched it", what, revision),
		fmt.Sprintf("run \"git diff --stat %s\" once: git fetches what is missing", revision),
	)
}

// noRevision returns the reason why a revision can't be resolved, with a hint.
func noRevision(repo *gogit.Repository, revision string, err error) error {
	shallow, _ := repo.Storer.Shallow()
	from, steps, counted := cutSteps(revision)
	has := 0
	if counted {
		has = commitsTo(repo, from, steps)
	}
	hint := "name a revision of the repository that the folder is in"
	if len(shallow) > 0 {
		hint += "; this is a shallow clone, and may lack it (git fetch --unshallow)"
	}
	switch {
	case !hasCommit(repo):
		return advice.New(fmt.Errorf("%w: %q: the repository has no commit yet", ErrNoRevision, revision), "commit first: there is nothing to compare with")
	case has > 0 && len(shallow) > 0:
		err = fmt.Errorf("this clone has only %s of %q", finding.Count(has, "commit"), from)
	case has > 0:
		err = fmt.Errorf("%q has only %s", from, finding.Count(has, "commit"))
		hint = fmt.Sprintf("the first one is %s~%d", from, has-1)
	case errors.Is(err, io.EOF):
		err = errors.New("it has no such ancestor")
	}
	return advice.New(fmt.Errorf("%w: %q: %w", ErrNoRevision, revision, err), hint)
}

// cutSteps splits FROM~N into FROM and N.
func cutSteps(revision string) (from string, steps int, ok bool) {
	from, count, ok := strings.Cut(revision, "~")
	if !ok || from == "" {
		return "", 0, false
	}
	steps, err := strconv.Atoi(count)
	return from, steps, err == nil && steps > 0
}

// mostSteps is the maximum number of commits that are counted.
const mostSteps = 100_000

// commitsTo returns the number of commits from a revision back along first parents if FROM~N does not exist because there
// are at most N; otherwise, or if the revision is unknown, it returns 0.
func commitsTo(repo *gogit.Repository, from string, steps int) int {
	hash, err := repo.ResolveRevision(plumbing.Revision(from))
	if err != nil {
		return 0
	}
	next := *hash
	for n := range min(steps, mostSteps) + 1 {
		commit, err := repo.CommitObject(next)
		if err != nil {
			return n // a shallow clone ends here
		}
		if len(commit.ParentHashes) == 0 {
			if n == steps {
				return 0
			}
			return n + 1
		}
		next = commit.ParentHashes[0]
	}
	return 0
}

// hasCommit reports whether a reference of a repository points to an object.
func hasCommit(repo *gogit.Repository) bool {
	all, err := repo.References()
	if err != nil {
		return true
	}
	defer all.Close()
	for {
		ref, err := all.Next()
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
		if ref.Type() == plumbing.HashReference {
			return true
		}
	}
}

// treeWalk collects the files of a tree.
type treeWalk struct {
	ctx   context.Context //nolint:containedctx // the context of one call
	store objects
	files map[string]revisionFile
	// seen are the sizes of the blobs that were reached, and 0 for trees.
	seen  map[plumbing.Hash]int64
	trees map[plumbing.Hash]*object.Tree
	// others collects symlinks and submodules; nil skips them.
	others  map[string]object.TreeEntry
	entries int
}

// addObject records the size of an object.
func (w *treeWalk) addObject(hash plumbing.Hash, size int64) {
	if _, known := w.seen[hash]; !known {
		w.seen[hash] = size
	}
}

func (w *treeWalk) folder(tree *object.Tree, prefix string, depth int) error {
	w.addObject(tree.Hash, 0)
	if depth > limits.Nesting {
		return w.store.exceed(fmt.Sprintf("folders nest deeper than %d", limits.Nesting))
	}
	for _, e := range tree.Entries {
		if w.entries++; w.entries > limits.Files {
			return w.store.exceed(fmt.Sprintf("it has more than %d files and folders", limits.Files))
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		switch e.Mode {
		case filemode.Dir:
			if err := w.below(e, prefix, depth); err != nil {
				return err
			}
		case filemode.Symlink, filemode.Submodule:
			if w.others != nil {
				w.others[prefix+e.Name] = e
			}
		case filemode.Regular, filemode.Executable, filemode.Deprecated:
			size, known := w.seen[e.Hash]
			if !known {
				var err error
				size, err = w.store.size(e.Hash)
				if errors.Is(err, plumbing.ErrObjectNotFound) && w.store.partial {
					w.files[prefix+e.Name] = revisionFile{hash: e.Hash, missing: true}
					continue // reading the file reports the error
				}
				if err != nil {
					return fmt.Errorf("%s: %w", prefix+e.Name, err)
				}
				w.addObject(e.Hash, size)
			}
			w.files[prefix+e.Name] = revisionFile{hash: e.Hash, size: size}
		}
	}
	return nil
}

// below lists the files of a folder. It reads a folder once, even if several trees contain it.
func (w *treeWalk) below(e object.TreeEntry, prefix string, depth int) error {
	tree := w.trees[e.Hash]
	if tree == nil {
		var err error
		if tree, err = object.GetTree(w.store, e.Hash); err != nil {
			return err
		}
		w.trees[e.Hash] = tree
	}
	return w.folder(tree, prefix+e.Name+"/", depth+1)
}

// openRepository opens the repository of a work tree for reading, as gogit.PlainOpen does, but opens only regular files.
func openRepository(root string) (*gogit.Repository, objects, error) {
	git := filepath.Join(root, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return nil, objects{}, err
	}
	if !info.IsDir() {
		if git, err = readGitFile(git); err != nil {
			return nil, objects{}, err
		}
	}
	common, err := commonDir(git)
	if err != nil {
		return nil, objects{}, err
	}
	files := billy.Filesystem(regularFiles{osfs.New(git)})
	if common != git {
		files = dotgit.NewRepositoryFilesystem(files, regularFiles{osfs.New(common)})
	}
	store := objects{Storage: filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(32*cache.MiByte), filesystem.Options{KeepDescriptors: true}), bound: &bound{bytes: limits.FileBytes}, common: common, partial: isPartial(common)}
	repo, err := gogit.Open(store, nil)
	return repo, store, err
}
