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

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
)

// What a revision has at most.
const (
	mostFiles = 200_000
	mostDepth = 200
)

// ErrNoRevision says that a repository has no such revision; the error is an [Advice].
var ErrNoRevision = errors.New("no such revision")

// Revision is the files of a folder as they were at a revision. It is safe for concurrent use.
type Revision struct {
	blobs blobs
	files map[string]revisionFile
}

type revisionFile struct {
	hash plumbing.Hash
	size int64
}

// ReadRevision lists the files of a folder as they were at a revision of the repository that
// the folder is in: a commit, branch, tag or what git rev-parse takes besides, such as
// HEAD~1. The paths are relative to the folder, with forward slashes. Symlinks and submodules
// are left out. Nothing of the repository's configuration is run. A revision that takes too much
// to list is a [bounds.Error].
func ReadRevision(ctx context.Context, dir, revision string) (*Revision, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, fmt.Errorf("%q is in no git repository: %w", dir, ErrNotRepository)
	}
	below, err := belowRoot(root, dir)
	if err != nil {
		return nil, err
	}
	repo, store, err := openRepository(root)
	if err != nil {
		return nil, fmt.Errorf("opening the repository of %q: %w", dir, err)
	}
	r := &Revision{blobs: blobs{store: store, where: "at " + revision}, files: map[string]revisionFile{}}
	err = store.reading(revision, func() error {
		tree, err := treeAt(repo, revision, below)
		if tree == nil || err != nil {
			return err
		}
		w := treeWalk{ctx: ctx, store: store, files: r.files, seen: map[plumbing.Hash]int64{}, trees: map[plumbing.Hash]*object.Tree{}}
		if err := w.folder(tree, "", 0); err != nil {
			return fmt.Errorf("reading revision %q: %w", revision, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// treeAt is the tree of a folder at a revision; nil where there was no such folder.
func treeAt(repo *gogit.Repository, revision, below string) (*object.Tree, error) {
	hash, err := repo.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return nil, noRevision(repo, revision, err)
	}
	commit, err := repo.CommitObject(*hash)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is no commit", ErrNoRevision, revision)
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

// Sizes are the paths of the files with their sizes.
func (r *Revision) Sizes() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for path, f := range r.files {
			if !yield(path, f.size) {
				return
			}
		}
	}
}

// ReadFile reads a file of the revision. The error wraps fs.ErrNotExist where there is none, and
// ErrLarge for one above 10 MB, and is a [bounds.Error] for one that takes too much to read.
func (r *Revision) ReadFile(path string) ([]byte, error) {
	f, ok := r.files[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return r.blobs.read(path, f.hash, f.size)
}

// noRevision says why a revision can't be resolved, with the way out.
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
		return &Advice{Err: fmt.Errorf("%w: %q: there is no commit yet", ErrNoRevision, revision), Hint: "commit first: there is nothing to compare with"}
	case has > 0 && len(shallow) > 0:
		err = fmt.Errorf("this clone has only %s of %q", finding.Count(has, "commit"), from)
	case has > 0:
		err = fmt.Errorf("%q has only %s", from, finding.Count(has, "commit"))
		hint = fmt.Sprintf("the first one is %s~%d", from, has-1)
	case errors.Is(err, io.EOF):
		err = errors.New("there is no such commit before it")
	}
	return &Advice{Err: fmt.Errorf("%w: %q: %w", ErrNoRevision, revision, err), Hint: hint}
}

// cutSteps takes FROM~N apart.
func cutSteps(revision string) (from string, steps int, ok bool) {
	from, count, ok := strings.Cut(revision, "~")
	if !ok || from == "" {
		return "", 0, false
	}
	steps, err := strconv.Atoi(count)
	return from, steps, err == nil && steps > 0
}

// mostSteps bounds how many commits are counted.
const mostSteps = 100_000

// commitsTo counts the commits from a revision along first parents where they are at most as many as
// the steps back from it, so that there is none at their end; 0 where there are more, or none is known.
func commitsTo(repo *gogit.Repository, from string, steps int) int {
	hash, err := repo.ResolveRevision(plumbing.Revision(from))
	if err != nil {
		return 0
	}
	next := *hash
	for n := range min(steps, mostSteps) + 1 {
		commit, err := repo.CommitObject(next)
		if err != nil {
			return n // below it a shallow clone ends
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

// hasCommit says whether any reference of a repository leads to an object.
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

// treeWalk gathers the files of a tree.
type treeWalk struct {
	ctx   context.Context //nolint:containedctx // of one call
	store objects
	files map[string]revisionFile
	// seen are the sizes of the blobs that were met, and 0 for trees.
	seen    map[plumbing.Hash]int64
	trees   map[plumbing.Hash]*object.Tree
	entries int
}

// objectInput is what an object of git's adds to the input that the bounds grow with: each is at
// least as many bytes in the repository, however often trees name it.
const objectInput = 100

// meet notes an object.
func (w *treeWalk) meet(hash plumbing.Hash, size int64) {
	if _, known := w.seen[hash]; !known {
		w.seen[hash] = size
		bounds.Grow(objectInput)
	}
}

func (w *treeWalk) folder(tree *object.Tree, prefix string, depth int) error {
	w.meet(tree.Hash, 0)
	if depth > mostDepth {
		return w.store.exceed(fmt.Sprintf("folders nest deeper than %d", mostDepth))
	}
	for _, e := range tree.Entries {
		if w.entries++; w.entries > mostFiles {
			return w.store.exceed(fmt.Sprintf("it has more than %d files and folders", mostFiles))
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		switch e.Mode {
		case filemode.Dir:
			if err := w.below(e, prefix, depth); err != nil {
				return err
			}
		case filemode.Regular, filemode.Executable, filemode.Deprecated:
			size, known := w.seen[e.Hash]
			if !known {
				var err error
				if size, err = w.store.size(e.Hash); err != nil {
					return fmt.Errorf("%s: %w", prefix+e.Name, err)
				}
				w.meet(e.Hash, size)
			}
			w.files[prefix+e.Name] = revisionFile{e.Hash, size}
		}
	}
	return nil
}

// below goes on in a folder, which may be named more than once and is read once.
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

// openRepository opens the repository of a work tree to read it: as gogit.PlainOpen does, of regular files.
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
	store := objects{Storage: filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(32*cache.MiByte), filesystem.Options{KeepDescriptors: true}), bound: &bound{bytes: MostFileBytes}}
	repo, err := gogit.Open(store, nil)
	return repo, store, err
}
