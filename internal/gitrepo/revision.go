package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// What ReadRevision reads at most: a file above the first is passed to the caller without
// content, a revision above the others is an error.
const (
	mostFileBytes  = 10 << 20
	mostTotalBytes = 256 << 20
	mostFiles      = 200_000
)

// ErrNoRevision says that a repository has no such revision; the error is an [Advice].
var ErrNoRevision = errors.New("no such revision")

// ReadRevision reads the files of a folder as they were at a revision of the repository that
// the folder is in: a commit, branch, tag or what git rev-parse takes besides, such as
// HEAD~1. The paths are relative to the folder, with forward slashes. Symlinks and submodules
// are left out, and files above 10 MB. Nothing of the repository's configuration is run.
func ReadRevision(ctx context.Context, dir, revision string) (map[string][]byte, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, fmt.Errorf("%q is in no git repository: %w", dir, ErrNotRepository)
	}
	below, err := belowRoot(root, dir)
	if err != nil {
		return nil, err
	}
	repo, err := openRepository(root)
	if err != nil {
		return nil, fmt.Errorf("opening the repository of %q: %w", dir, err)
	}
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
			return map[string][]byte{}, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading revision %q: %w", revision, err)
	}
	return readTree(ctx, tree)
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

// belowRoot is the path of a folder from the repository's root, "" for the root.
func belowRoot(root, dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	below, err := filepath.Rel(root, absolute)
	if err != nil {
		return "", err
	}
	if below == "." {
		return "", nil
	}
	return filepath.ToSlash(below), nil
}

func readTree(ctx context.Context, tree *object.Tree) (map[string][]byte, error) {
	files := map[string][]byte{}
	total := 0
	all := tree.Files()
	defer all.Close()
	for {
		f, err := all.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if f.Mode != filemode.Regular && f.Mode != filemode.Executable && f.Mode != filemode.Deprecated || f.Size > mostFileBytes {
			continue
		}
		if total += int(f.Size); total > mostTotalBytes || len(files) >= mostFiles {
			return nil, fmt.Errorf("the revision has more than %d files or %d MB", mostFiles, mostTotalBytes>>20)
		}
		data, err := contents(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		files[f.Name] = data
	}
}

func contents(f *object.File) (data []byte, err error) {
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, mostFileBytes+1))
}
