package gitrepo

import (
	"errors"
	"fmt"
	"strings"
)

// The failures that callers distinguish with errors.Is.
var (
	// ErrMoved: the branch has moved from the commit that was read. Nothing was changed; open the branch again and repeat.
	ErrMoved = errors.New("the branch moved")
	// ErrRejected: the remote rejected the push. The local branch was not changed; open the branch
	// again and repeat.
	ErrRejected = errors.New("the push was rejected")
	// ErrBusy: another process holds a lock of the repository.
	ErrBusy = errors.New("another process is writing to the repository")
	// ErrDirty: the work tree has changes of the user at paths of the commit;
	// the error is a *DirtyError.
	ErrDirty = errors.New("the work tree has uncommitted changes")
	// ErrInProgress: the checked-out branch is in the middle of a rebase, merge,
	// cherry-pick, revert or bisect.
	ErrInProgress = errors.New("an operation of git is in progress")
	// ErrDiverged: the local branch and the remote's each have commits that the
	// other lacks.
	ErrDiverged = errors.New("the branch has diverged from its remote")
	// ErrNotRepository: the location is not a git repository.
	ErrNotRepository = errors.New("not a git repository")
	// ErrUnsupported: the repository uses a format that this package does not
	// write.
	ErrUnsupported = errors.New("unsupported repository format")
	// ErrOwner: the repository belongs to another user.
	ErrOwner = errors.New("the repository belongs to another user")
	// ErrFilter: the attributes of a file let git store other bytes than it contains, and the branch is not checked out.
	ErrFilter = errors.New("git would run a filter")
	// ErrNoGit: git is not on PATH.
	ErrNoGit = errors.New("git is not on PATH")
	// ErrNoIdentity: flags, environment and git's configuration do not name the
	// committer.
	ErrNoIdentity = errors.New("the committer is unknown")
)

// DirtyError lists the paths that a commit would write and that have changes of the user.
type DirtyError struct {
	// Branch is the short name of the checked-out branch, Dir its work tree.
	Branch, Dir string
	// Unborn is set if the branch has no commit yet, so that changes cannot be stashed.
	Unborn bool
	// Paths are in order, each with its state.
	Paths []DirtyPath
}

// DirtyPath is one path with changes of the user.
type DirtyPath struct {
	Path string
	// State is "modified", "deleted", "staged", "untracked" or "in the way".
	State string
}

func (e *DirtyError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "branch %q is checked out in %q and has changes that are not committed:", e.Branch, e.Dir)
	const shown = 20
	for i, p := range e.Paths {
		if i == shown {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Paths)-shown)
			break
		}
		fmt.Fprintf(&b, "\n  %-10s %s", p.State, p.Path)
	}
	return b.String()
}

// Hint returns how to fix the error.
func (e *DirtyError) Hint() string {
	if e.Unborn {
		return "commit or move them, and run again"
	}
	return "commit, stash or move them, and run again"
}

// Is reports whether target is ErrDirty, for errors.Is.
func (e *DirtyError) Is(target error) bool { return target == ErrDirty }

// lockedError names a lock file that blocks the commit.
type lockedError struct{ path string }

func (e *lockedError) Error() string {
	return fmt.Sprintf("another process is writing: the lock %q exists: wait for it to end, or remove the file if no git runs here", e.path)
}

func (e *lockedError) Is(target error) bool { return target == ErrBusy }

// movedError returns the error for a reference that moved while committing.
func movedError(branch, from, to string) error {
	return fmt.Errorf("%w: branch %q moved from %s to %s while committing: run again", ErrMoved, branch, shortHash(from), shortHash(to))
}

func shortHash(h string) string {
	switch {
	case h == "":
		return "nothing"
	case len(h) > 10:
		return h[:10]
	}
	return h
}
