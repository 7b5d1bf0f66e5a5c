package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Options configure how a branch is opened.
type Options struct {
	// Init creates a bare repository if a local path doesn't exist or is an empty folder; its HEAD
	// points to the branch.
	Init bool
	// Orphan starts a branch that doesn't exist without a parent. Otherwise it starts at the
	// repository's HEAD, if that has a commit.
	Orphan bool
	// Push also pushes commits in a local repository to its remote ("origin", or the only one), and
	// creates them on top of the remote's head if the local branch is behind. Commits to a URL are
	// always pushed.
	Push bool
	// ReadOnly changes nothing: an interrupted commit is an error.
	ReadOnly bool
	// Env looks up environment variables (credentials); nil finds none.
	Env func(string) string

	// step is the hook of tests, see disk.
	step func(op, path string)
}

// Branch is a branch of a repository at the time when it was opened. It is not safe for concurrent
// use. Close removes its temporary files.
type Branch struct {
	location, ref string
	layout        layout
	disk          disk
	store         objects
	// local is the reference's value in this repository, base the parent of new commits; "" if it does not exist.
	local, base string
	remote      *remote
	temp        string
	env         func(string) string
	// git runs the user's git in a local repository. If git is not on PATH, it has no path; bare repositories don't need
	// git. home is the work tree in which the branch is checked out, if one does.
	git  program
	home worktree
	// filtered are the paths of the branch that have a filter; nil until they are determined.
	filtered map[string]bool
	// folders are the trees that were read, by hash.
	folders map[plumbing.Hash]map[string]item
}

// Open opens a branch (a short name; "" is the repository's default branch). The location is the path
// of a work tree or of a bare repository, or a URL: file://, https://, ssh:// or git@host:path. A
// repository at a URL is fetched into a temporary folder, which Close removes. Open first completes
// or reverts an interrupted commit in a local repository. It fails with ErrNotRepository, ErrOwner,
// ErrUnsupported, ErrBusy or ErrDiverged.
func Open(ctx context.Context, location, branch string, o Options) (*Branch, error) {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	ref := ""
	if branch != "" {
		var err error
		if ref, err = branchRef(branch); err != nil {
			return nil, err
		}
	}
	b := &Branch{location: Redact(location), ref: ref, disk: disk{step: o.step}, env: o.Env}
	open := b.openLocal
	if isURL(location) {
		open = b.openURL
	}
	if err := open(ctx, location, o); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// openURL fetches a branch of a remote repository.
func (b *Branch) openURL(ctx context.Context, location string, o Options) (err error) {
	if b.remote, err = newRemote(location, location, "", o.Env); err != nil {
		return err
	}
	b.location = b.remote.fetch.shown
	if b.temp, err = os.MkdirTemp("", "fleetwright-git-"); err != nil {
		return err
	}
	if _, err := gogit.PlainInit(b.temp, true); err != nil {
		return err
	}
	if b.layout, err = findLayout(b.temp); err != nil {
		return err
	}
	if b.store, err = openObjects(b.layout); err != nil {
		return err
	}
	if b.base, err = b.remote.load(ctx, b.store.whole(), b.ref, 1, !o.Orphan); err != nil {
		return err
	}
	if b.ref == "" {
		b.ref = b.remote.fallback
	}
	if b.ref == "" {
		return fmt.Errorf("%s is empty and has no default branch: name the branch to create", b.location)
	}
	return nil
}

// openLocal opens a repository on this machine.
func (b *Branch) openLocal(ctx context.Context, location string, o Options) (err error) {
	if o.Init {
		if err := initBare(location, b.ref); err != nil {
			return err
		}
	}
	if b.layout, err = findLayout(location); err != nil {
		return explainMissing(location, err)
	}
	if err := b.openGit(ctx); err != nil {
		return err
	}
	b.disk.dirBits, b.disk.fileBits = b.layout.config.sharedBits()
	if o.ReadOnly {
		err = b.interrupted()
	} else {
		err = b.recover(ctx)
	}
	if err != nil {
		return err
	}
	if b.store, err = openObjects(b.layout); err != nil {
		return err
	}
	head, err := headOf(b.layout.git)
	if err != nil {
		return err
	}
	if b.ref == "" {
		if !strings.HasPrefix(head, branchPrefix) {
			return fmt.Errorf("%q has no branch checked out: name the branch to commit to", location)
		}
		b.ref = head
	}
	if b.local, err = readRef(b.layout.common, b.ref); err != nil {
		return err
	}
	b.base = b.local
	if b.home, err = b.layout.homeOf(b.ref); err != nil {
		return err
	}
	if b.home.dir != "" && b.git.path == "" {
		return b.layout.withoutGit()
	}
	if o.Push {
		if err := b.openUpstream(ctx, o); err != nil {
			return err
		}
	}
	if b.base == "" && !o.Orphan && strings.HasPrefix(head, branchPrefix) {
		b.base, err = readRef(b.layout.common, head)
	}
	return err
}

// openGit finds git for a local repository, and lets it check the repository's owner.
func (b *Branch) openGit(ctx context.Context) (err error) {
	b.git, err = newProgram(first(b.layout.work, b.layout.git), b.env)
	switch {
	case err == nil:
		return b.git.checkOwner(ctx, b.git.dir)
	case b.layout.work == "":
		return nil
	}
	return b.layout.withoutGit()
}

// openUpstream reads the remote's branch and decides which of the two heads is newer.
func (b *Branch) openUpstream(ctx context.Context, o Options) error {
	name, ok := b.layout.remoteName()
	if !ok {
		return advice.New(fmt.Errorf("%q has no remote \"origin\" to push to", b.location), `run "git remote add origin URL"`)
	}
	var err error
	if b.remote, err = newRemote(b.layout.remoteLocation(name), b.layout.remotePushLocation(name), name, o.Env); err != nil {
		return err
	}
	if _, err := b.remote.load(ctx, b.store.whole(), b.ref, 0, false); err != nil {
		return err
	}
	there := b.remote.head
	switch {
	case there == "" || there == b.local:
		return nil
	case b.local == "":
		b.base = there
		return nil
	}
	behind, err := isAncestor(b.store.whole(), b.local, there)
	if err != nil {
		return err
	}
	if behind {
		b.base = there
		return nil
	}
	ahead, err := isAncestor(b.store.whole(), there, b.local)
	if err == nil && !ahead {
		err = fmt.Errorf("%w: branch %q is at %s here and at %s in %q: run \"git pull --rebase\", and run again",
			ErrDiverged, b.Name(), shortHash(b.local), shortHash(there), name)
	}
	return err
}

// explainMissing adds to an error how to create the repository.
func explainMissing(location string, err error) error {
	if !errors.Is(err, ErrNotRepository) {
		return err
	}
	if root, ok := Root(location); ok {
		return fmt.Errorf("%w, but a folder of the repository %q: name that one", err, root)
	}
	return fmt.Errorf("%w: create one with \"git init --bare %s\"", err, location)
}

// initBare creates a bare repository, completely or not at all, at a path that does not exist or is an empty folder.
func initBare(path, ref string) error {
	items, err := os.ReadDir(path)
	if err == nil && len(items) > 0 || errors.Is(err, errNotDir) {
		return nil // the repository exists, or something blocks the path: opening it reports that
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if ref == "" {
		ref = branchPrefix + "main"
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	defer bounds.Writing()()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), ".fleetwright-init-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	created := filepath.Join(tmp, "repository") // MkdirTemp's own folder is private
	if _, err := gogit.PlainInitWithOptions(created, &gogit.PlainInitOptions{
		Bare: true, InitOptions: gogit.InitOptions{DefaultBranch: plumbing.ReferenceName(ref)},
	}); err != nil {
		return err
	}
	// Removes an empty folder. For any other folder, the rename fails.
	_ = os.Remove(path)
	return os.Rename(created, path)
}

// Close removes the fetched repository.
func (b *Branch) Close() error {
	if b.temp == "" {
		return nil
	}
	return os.RemoveAll(b.temp)
}

// Name returns the branch's short name.
func (b *Branch) Name() string { return shortRef(b.ref) }

// Location returns the repository's path or URL for messages, without a password.
func (b *Branch) Location() string { return b.location }

// Remote reports whether the repository is at a URL, so that a commit is a push.
func (b *Branch) Remote() bool { return b.temp != "" }

// WorkTree returns the folder with the repository's files, "" for a bare repository and
// for a URL.
func (b *Branch) WorkTree() string { return b.layout.work }

// Exists reports whether the branch already has a commit.
func (b *Branch) Exists() bool {
	return b.local != "" || b.remote != nil && b.remote.head != ""
}

var _ tree.Reader = (*Branch)(nil)

// ReadFile reads a file of Head as it was before a filter, as tree.Reader requires: the error wraps fs.ErrNotExist if the
// file does not exist. It is a *tree.BlockedError if a symlink, submodule or folder is at the path, or a file, symlink or
// submodule above it. ReadFile follows no symlink.
func (b *Branch) ReadFile(path string) ([]byte, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	missing := &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	at, err := b.store.rootOf(b.base)
	if err != nil {
		return nil, err
	}
	for i := 0; ; {
		name, _, deeper := strings.Cut(path[i:], "/")
		items, err := b.folder(at)
		if err != nil {
			return nil, err
		}
		x, ok := items[name]
		i += len(name)
		switch {
		case !ok:
			return nil, missing
		case deeper && x.mode == filemode.Dir:
			at, i = x.hash, i+1
		case !deeper && kindOf(x.mode) == tree.AFile:
			stored, err := b.store.blob(x.hash)
			if err != nil {
				return nil, err
			}
			return b.smudge(path, x.hash, stored)
		default:
			return nil, &tree.BlockedError{Path: path, At: path[:i], What: kindOf(x.mode)}
		}
	}
}

// folder returns the items of a tree, which it reads once.
func (b *Branch) folder(hash plumbing.Hash) (map[string]item, error) {
	if items, ok := b.folders[hash]; ok {
		return items, nil
	}
	entries, err := b.store.entries(hash)
	if err != nil {
		return nil, err
	}
	items := make(map[string]item, len(entries))
	for _, e := range entries {
		items[e.Name] = item{e.Mode, e.Hash}
	}
	if b.folders == nil {
		b.folders = map[plumbing.Hash]map[string]item{}
	}
	b.folders[hash] = items
	return items, nil
}

// List returns the sorted paths of all regular files, and the paths that symlinks and
// submodules occupy.
func (b *Branch) List() (files, occupied []string, err error) {
	root, err := b.store.rootOf(b.base)
	if err != nil {
		return nil, nil, err
	}
	all, err := b.store.diffTrees(plumbing.ZeroHash, root)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range all {
		if d.new.mode == filemode.Symlink || d.new.mode == filemode.Submodule {
			occupied = append(occupied, d.path)
		} else {
			files = append(files, d.path)
		}
	}
	slices.Sort(files)
	slices.Sort(occupied)
	return files, occupied, nil
}
