package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fleetwright/fleetwright/internal/output"
)

// The final steps of a commit, in the order in which they become visible:
//  1. fleetwright-commit/ in the git folder: the files that become locks, and
//     the journal;
//  2. git's locks: index.lock and HEAD.lock of the work tree, the reference's;
//  3. the checks under the locks: the reference's old value, the work tree;
//  4. the reference's lock is renamed to the reference: the decision;
//  5. reference logs, work tree, index, the remote-tracking reference;
//  6. the locks and the folder are removed, the journal first.
// A lock is a hard link to its file in the folder: it is created only if no file is at its
// path, is never visible half written, and after a kill it is recognized as ours and not
// another git process's. Before the decision a journal is rolled back, after
// it forward.

func (b *Branch) newTransaction(e *editor, commit string, o CommitOptions) (*transaction, error) {
	who := o.Committer
	if who.Name == "" {
		who = o.Author
	}
	t := &transaction{layout: b.layout, disk: b.disk, store: b.store}
	t.store.fresh = e.fresh
	t.j = journal{Version: 1, New: commit, Name: who.Name, Email: who.Email, When: who.When, Message: b.logMessage(commit, o.Message)}
	if b.local != commit {
		t.j.Ref, t.j.Old = b.ref, b.local
	}
	if b.remote != nil && b.temp == "" {
		t.j.Tracking = b.layout.tracking(b.remote.name, b.ref)
	}
	return t, t.j.check()
}

// logMessage returns the message that git writes to the log for the same step.
func (b *Branch) logMessage(commit, message string) string {
	subject, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	subject = output.Line(subject)
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

// tracking returns the remote-tracking reference of a remote's branch, according to the remote's fetch
// refspecs; "" if there is none.
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

// run moves the reference and performs the steps after it.
func (t *transaction) run(ctx context.Context) error {
	release, err := t.layout.lockRepository(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := t.recoverOther(); err != nil {
		return err
	}
	if err := t.begin(); err != nil {
		return errors.Join(err, t.rollback())
	}
	if t.j.Ref != "" {
		if err := t.prepare(); err != nil {
			return errors.Join(err, t.rollback())
		}
		if err := t.disk.rename(t.refPath(t.j.Ref)+".lock", t.refPath(t.j.Ref)); err != nil {
			return errors.Join(err, t.rollback())
		}
	}
	if err := t.finish(); err != nil {
		return fmt.Errorf("the branch has the new commit, and the work tree did not follow yet; the next run completes it: %w", err)
	}
	return nil
}

// preflight returns an error for anything that would prevent the move, before anything is written.
func (t *transaction) preflight() error {
	now, err := readRef(t.layout.common, t.j.Ref)
	if err != nil {
		return err
	}
	if now != t.j.Old {
		return movedError(shortRef(t.j.Ref), t.j.Old, now)
	}
	if now == "" {
		if err := checkConflict(t.layout.common, t.j.Ref); err != nil {
			return err
		}
	}
	w, ok, err := t.layout.checkedOut(t.j.Ref)
	if err != nil || !ok {
		return err
	}
	if lock := filepath.Join(w.git, "index.lock"); exists(lock) {
		return &lockedError{lock}
	}
	c, err := t.checkout(w)
	if err != nil {
		return err
	}
	return errors.Join(c.check(shortRef(t.j.Ref), t.j.Old == ""), c.close())
}
