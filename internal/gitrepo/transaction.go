package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// transaction moves the branch to the new commit.
//
// A branch that is checked out moves in these steps:
//  1. create fleetwright-commit/ in the git folder, with the journal;
//  2. lock git's index.lock of the work tree, so that no other git changes the index;
//  3. copy the index, and let git check in the copy whether the work tree can follow;
//  4. move the branch with git update-ref: this decides that the commit is completed;
//  5. update the work tree and the copy with git read-tree; the copy becomes the index;
//  6. remove the journal, the lock and the folder.
//
// Before step 4 a journal is rolled back, and afterwards rolled forward. The lock is a hard link to a file in the folder:
// it is created only if no file is at its path, it is never half written, and its content shows that it is ours.
//
// A branch that is not checked out moves with git update-ref alone, and the branch of a bare repository without git.
type transaction struct {
	layout layout
	disk   disk
	store  objects
	git    program
	j      journal
	// message and env are for the reference's log. tracking is the remote-tracking reference that also moves.
	message, tracking string
	env               []string
	// from and to are the trees between which git updates the work tree; empty before step 3.
	from, to string
}

func (b *Branch) newTransaction(commit string) *transaction {
	t := &transaction{layout: b.layout, disk: b.disk, store: b.store, git: b.git, j: journal{Version: 2, Ref: b.ref, Old: b.local, New: commit}}
	t.git.step = b.disk.step
	if b.remote != nil {
		t.tracking = b.layout.tracking(b.remote.name, b.ref)
	}
	return t
}

// logMessage returns the message for the reference's log: the one that git would write, except for a fast-forward.
func (b *Branch) logMessage(commit, message string) string {
	subject, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	switch {
	case commit == b.base && b.local == "":
		return "branch: Created from " + commit
	case commit == b.base:
		return "fleetwright: fast-forward"
	case b.base == "":
		return "commit (initial): " + subject
	}
	return "commit: " + subject
}

// tracking returns the remote-tracking reference of a remote's branch, according to the remote's fetch refspecs; ""
// without one.
func (l layout) tracking(remote, ref string) string {
	for _, spec := range l.config.sub("remote", remote, "fetch") {
		s := config.RefSpec(spec)
		if s.Validate() != nil || !s.Match(plumbing.ReferenceName(ref)) {
			continue
		}
		if dst := s.Dst(plumbing.ReferenceName(ref)).String(); strings.HasPrefix(dst, "refs/remotes/") {
			return dst
		}
	}
	return ""
}

func (t *transaction) refPath() string {
	return filepath.Join(t.layout.common, filepath.FromSlash(t.j.Ref))
}

// run moves the reference and lets the work tree follow.
func (t *transaction) run(ctx context.Context) error {
	lock, release, err := t.layout.lockRepository(ctx)
	if err != nil {
		return err
	}
	defer release()
	t.git.held = lock
	if err := t.recoverOther(ctx); err != nil {
		return err
	}
	if t.j.Old == t.j.New {
		return t.moveRefs(ctx) // only the remote-tracking reference
	}
	w, found, err := t.layout.checkedOut(t.j.Ref)
	switch {
	case err != nil:
		return err
	case found:
		return t.moveWith(ctx, w)
	case t.layout.work == "":
		return t.moveBare()
	}
	if err := t.checkRef(); err != nil {
		return err
	}
	return t.moveRefs(ctx)
}

// checkRef returns an error if the reference has moved since it was read, or cannot be created.
func (t *transaction) checkRef() error {
	now, err := readRef(t.layout.common, t.j.Ref)
	if err != nil {
		return err
	}
	if now != t.j.Old {
		return movedError(shortRef(t.j.Ref), t.j.Old, now)
	}
	if now == "" {
		return checkConflict(t.layout.common, t.j.Ref)
	}
	return nil
}

// moveWith moves a branch that is checked out, and then its work tree.
func (t *transaction) moveWith(ctx context.Context, w worktree) error {
	t.git.dir = w.dir
	if err := t.begin("fleetwright " + t.j.New + "\n"); err != nil {
		return errors.Join(err, t.end())
	}
	err := t.lock(filepath.Join(w.git, "index.lock"))
	if err == nil {
		err = t.checkRef()
	}
	if err == nil {
		err = t.try(ctx, w)
	}
	if err == nil {
		err = t.moveRefs(ctx)
	}
	if err != nil {
		return errors.Join(err, t.end())
	}
	if err := t.follow(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("the branch has the new commit, but the work tree is not updated yet; the next run completes it: %w", err)
	}
	return t.end()
}

// moveRefs moves the reference. It also moves the remote-tracking reference, unless another git has locked it: then the
// next fetch moves it.
func (t *transaction) moveRefs(ctx context.Context) error {
	if t.layout.work == "" && t.git.path == "" {
		return nil
	}
	moved, tracked := "", ""
	if t.j.Old != t.j.New {
		old := t.j.Old
		if old == "" {
			old = plumbing.ZeroHash.String()
		}
		moved = fmt.Sprintf("update %s %s %s\n", t.j.Ref, t.j.New, old)
	}
	if t.tracking != "" {
		tracked = fmt.Sprintf("update %s %s\n", t.tracking, t.j.New)
	}
	git := t.git.with(t.env...)
	_, err := git.run(ctx, moved+tracked, "update-ref", "-m", t.message, "--stdin")
	if err != nil && tracked != "" {
		if moved == "" {
			return nil // the next fetch moves it
		}
		_, err = git.run(ctx, moved, "update-ref", "-m", t.message, "--stdin")
	}
	if err == nil {
		return nil
	}
	all, _ := t.layout.worktrees()
	for _, w := range append(all, worktree{git: t.layout.common}) {
		for _, lock := range []string{t.refPath() + ".lock", filepath.Join(w.git, "HEAD.lock")} {
			if exists(lock) {
				return &lockedError{lock}
			}
		}
	}
	return errors.Join(t.checkRef(), fmt.Errorf("git cannot move branch %q: %w", shortRef(t.j.Ref), err))
}

// checkout compares a work tree with the differences between the old and the new commit.
func (t *transaction) checkout(ctx context.Context, w worktree, git program) (*checkout, error) {
	before, err := t.store.rootOf(t.j.Old)
	if err != nil {
		return nil, err
	}
	after, err := t.store.rootOf(t.j.New)
	if err != nil {
		return nil, err
	}
	diffs, err := t.store.diffTrees(before, after)
	if err != nil {
		return nil, err
	}
	now, err := readRef(t.layout.common, t.j.Ref)
	if err != nil {
		return nil, err
	}
	git.dir = w.dir
	return openCheckout(ctx, w, git, t.store, t.layout.config, diffs, now == t.j.New)
}

// preflight returns an error for anything that would prevent the move, before anything is written.
func (t *transaction) preflight(ctx context.Context) error {
	if err := t.checkRef(); err != nil {
		return err
	}
	w, ok, err := t.layout.checkedOut(t.j.Ref)
	if err != nil || !ok {
		return err
	}
	if t.git.path == "" {
		return t.layout.withoutGit()
	}
	if lock := filepath.Join(w.git, "index.lock"); exists(lock) {
		return &lockedError{lock}
	}
	git := t.git
	git.step = nil
	c, err := t.checkout(ctx, w, git)
	if err != nil {
		return err
	}
	return errors.Join(c.check(ctx, shortRef(t.j.Ref), t.j.Old == ""), c.close())
}

// withoutGit returns the error for a repository with a work tree if git is not on PATH.
func (l layout) withoutGit() error {
	return advice.New(
		fmt.Errorf("%w, and only git writes to a work tree: %q", ErrNoGit, first(l.work, l.git)),
		"install git; or commit to a bare repository or to a URL, with --target NAME=REPO#BRANCH",
	)
}

// try prepares a copy of the index, and returns an error if the work tree cannot follow to the new commit. In the copy,
// the paths that git must not touch are as in the new commit. They are therefore equal in the two trees between which git
// then switches.
func (t *transaction) try(ctx context.Context, w worktree) error {
	git, err := t.copyIndex(filepath.Join(w.git, "index"), "index")
	if err != nil {
		return err
	}
	c, err := t.checkout(ctx, w, git)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	if !c.moved {
		if err := c.check(ctx, shortRef(t.j.Ref), t.j.Old == ""); err != nil {
			return err
		}
	}
	mine, theirs, err := c.lines(ctx)
	if err != nil {
		return err
	}
	if t.from, err = writeTree(ctx, git, mine); err != nil {
		return err
	}
	if _, err := git.run(ctx, "", "update-index", "-q", "--ignore-submodules", "--refresh"); err != nil {
		return err
	}
	after, err := t.copyIndex(t.stage("index"), "index.new")
	if err != nil {
		return err
	}
	if t.to, err = writeTree(ctx, after, theirs); err != nil {
		return err
	}
	if _, err := git.run(ctx, "", "read-tree", "-m", "-u", "-n", t.from, t.to); err != nil {
		return fmt.Errorf("%w: git cannot update %q: %w", ErrDirty, w.dir, err)
	}
	return nil
}

// copyIndex copies an index, which may be missing, and returns git for the copy. The copy has the time of the index,
// because git compares the content of files that were changed since then.
func (t *transaction) copyIndex(from, name string) (program, error) {
	for _, old := range []string{name, name + ".lock"} {
		if err := t.disk.remove(t.stage(old)); err != nil {
			return program{}, err
		}
	}
	info, err := os.Stat(from)
	var data []byte
	if err == nil {
		data, err = readBounded(from, maxIndex)
	}
	if err == nil {
		err = t.disk.write(t.stage(name), data)
	}
	if err == nil {
		err = os.Chtimes(t.stage(name), info.ModTime(), info.ModTime())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return t.git.with("GIT_INDEX_FILE=" + t.stage(name)), err
}

// writeTree changes an index and returns its tree.
func writeTree(ctx context.Context, git program, lines string) (string, error) {
	if lines != "" {
		if _, err := git.run(ctx, lines, "update-index", "--replace", "-z", "--index-info"); err != nil {
			return "", err
		}
	}
	tree, err := git.run(ctx, "", "write-tree", "--missing-ok")
	return strings.TrimSpace(tree), err
}

// follow updates the work tree and its index to the new commit; it may run again after the process was killed. Files that
// the user changed meanwhile stay as they are, and git shows them as modified.
func (t *transaction) follow(ctx context.Context) error {
	w, found, err := t.layout.checkedOut(t.j.Ref)
	if err != nil || !found {
		return err
	}
	if t.git.path == "" {
		return t.layout.withoutGit()
	}
	t.git.dir = w.dir
	if lock := filepath.Join(w.git, "index.lock"); !t.holds(lock) {
		if err := t.lock(lock); err != nil {
			return err
		}
	}
	for range 2 { // the user may save a file between the two steps
		if t.to == "" {
			if err = t.try(ctx, w); err != nil {
				continue
			}
		}
		git := t.git.with("GIT_INDEX_FILE=" + t.stage("index"))
		if _, err = git.run(ctx, "", "read-tree", "-m", "-u", t.from, t.to); err == nil {
			return t.disk.rename(t.stage("index"), filepath.Join(w.git, "index"))
		}
		t.to = ""
	}
	return err
}

// lock creates a lock file as a hard link to the staged file, which has its content.
func (t *transaction) lock(path string) error {
	err := t.disk.link(t.stage("lock"), path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without hard links
		var content []byte
		if content, err = os.ReadFile(t.stage("lock")); err == nil {
			err = t.disk.write(path, content)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return &lockedError{path}
	}
	return err
}

// holds reports whether a lock file is ours.
func (t *transaction) holds(path string) bool {
	mine, err1 := readBounded(t.stage("lock"), 1<<10)
	there, err2 := readBounded(path, 1<<10)
	return err1 == nil && err2 == nil && len(mine) > 0 && string(mine) == string(there)
}

// moveBare moves a reference of a bare repository by git's own protocol: it writes a lock file next to the reference and
// renames it. Such a repository has no log of references by default, and gets no log entry.
func (t *transaction) moveBare() error {
	if err := t.begin(t.j.New + "\n"); err != nil {
		return errors.Join(err, t.end())
	}
	return errors.Join(t.renameRef(), t.end())
}

func (t *transaction) renameRef() error {
	path := t.refPath()
	if err := t.disk.mkdirs(filepath.Dir(path)); err != nil {
		return errors.Join(t.checkRef(), err)
	}
	if err := t.lock(path + ".lock"); err != nil {
		return err
	}
	if err := t.checkRef(); err != nil {
		return err
	}
	if err := t.disk.clearFolder(path); err != nil {
		return err
	}
	return t.disk.rename(path+".lock", path)
}
