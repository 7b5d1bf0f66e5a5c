package gitrepo

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of failure that callers tell apart with errors.Is.
var (
	// ErrMoved: the branch is no longer at the commit that was read. Nothing
	// was changed; open the branch again and repeat.
	ErrMoved = errors.New("the branch moved")
	// ErrRejected: the remote did not take the push. The local branch was not
	// changed; open the branch again and repeat.
	ErrRejected = errors.New("the push was rejected")
	// ErrBusy: another process holds a lock of the repository.
	ErrBusy = errors.New("another process is writing to the repository")
	// ErrDirty: the work tree holds changes of the user's at touched paths;
	// the error is a *DirtyError.
	ErrDirty = errors.New("the work tree has changes of its own")
	// ErrInProgress: the checked-out branch is in the middle of a rebase, merge,
	// cherry-pick, revert or bisect.
	ErrInProgress = errors.New("an operation of git is in progress")
	// ErrDiverged: the local branch and the remote's each have commits that the
	// other lacks.
	ErrDiverged = errors.New("the branch has diverged from its remote")
	// ErrNotRepository: there is no git repository at the location.
	ErrNotRepository = errors.New("not a git repository")
	// ErrUnsupported: the repository uses a format that this package does not
	// write.
	ErrUnsupported = errors.New("unsupported repository format")
	// ErrOwner: the repository belongs to somebody else.
	ErrOwner = errors.New("the repository belongs to another user")
	// ErrFilter: git would store a file otherwise than it is, by its attributes.
	ErrFilter = errors.New("git would run a filter")
	// ErrNoIdentity: neither flags, environment nor git's configuration say who
	// commits.
	ErrNoIdentity = errors.New("who commits is unknown")
)

// Advice is an error with its way out.
type Advice struct {
	Err error
	// Hint is what the user can do, in a sentence.
	Hint string
}

// Error is the message without the hint.
func (e *Advice) Error() string { return e.Err.Error() }

func (e *Advice) Unwrap() error { return e.Err }

// DirtyError lists the paths that a commit would write and that hold changes of
// the user's.
type DirtyError struct {
	// Branch is the short name of the checked-out branch, Dir its work tree.
	Branch, Dir string
	// Unborn says that the branch has no commit yet, so that nothing can be stashed.
	Unborn bool
	// Paths in order, each with what is the matter.
	Paths []DirtyPath
}

// DirtyPath is one path with changes of the user's.
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

// Hint is the way out.
func (e *DirtyError) Hint() string {
	if e.Unborn {
		return "commit or move them, and run again"
	}
	return "commit, stash or move them, and run again"
}

// Is makes errors.Is(err, ErrDirty) true.
func (e *DirtyError) Is(target error) bool { return target == ErrDirty }

// lockedError names a lock file that is in the way.
type lockedError struct{ path string }

func (e *lockedError) Error() string {
	return fmt.Sprintf("another process is writing: the lock %q exists: wait for it to end, or remove the file if no git runs here", e.path)
}

func (e *lockedError) Is(target error) bool { return target == ErrBusy }

// movedError says from where to where a reference moved.
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
