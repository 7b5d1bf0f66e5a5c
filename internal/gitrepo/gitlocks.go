package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockRepository waits until other commits of this program have ended, and takes the program's own lock.
func (l layout) lockRepository(ctx context.Context) (release func(), err error) {
	path := filepath.Join(l.common, lockName)
	late := time.After(lockWait)
	for {
		release, ok, err := tryLock(path)
		if ok || err != nil {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-late:
			return nil, fmt.Errorf("%w: another commit holds %q", ErrBusy, path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// lock creates a lock file as a hard link to a staged file.
func (t *transaction) lock(staged, lock string) error {
	err := t.disk.link(t.stage(staged), lock)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return &lockedError{lock}
	}
	// A file system without hard links: create the file as git does. If the process is killed, such a lock
	// has to be removed by hand.
	data, readErr := os.ReadFile(t.stage(staged))
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	err = t.disk.write(lock, 0o666, data)
	if errors.Is(err, fs.ErrExist) {
		return &lockedError{lock}
	}
	if err == nil {
		t.owned = append(t.owned, lock)
	}
	return err
}

// holds reports whether this transaction owns a lock file.
func (t *transaction) holds(staged, lock string) bool {
	for _, o := range t.owned {
		if o == lock {
			return true
		}
	}
	return sameFile(t.stage(staged), lock)
}

// prepare takes git's locks and checks under them that nothing has changed.
func (t *transaction) prepare() error {
	w, found, err := t.layout.checkedOut(t.j.Ref)
	if err != nil {
		return err
	}
	if found {
		if err := t.lock("index", filepath.Join(w.git, "index.lock")); err != nil {
			return err
		}
	}
	head, err := t.headFolder(w, found)
	if err != nil {
		return err
	}
	if head != "" {
		if err := t.lock("head", filepath.Join(head, "HEAD.lock")); err != nil {
			return err
		}
	}
	if err := t.lockRef(); err != nil {
		return err
	}
	again, still, err := t.layout.checkedOut(t.j.Ref)
	if err != nil {
		return err
	}
	if still != found || again != w {
		return fmt.Errorf("%w: branch %q was checked out elsewhere while committing: run again", ErrMoved, shortRef(t.j.Ref))
	}
	if !found {
		return nil
	}
	c, err := t.checkout(w)
	if err != nil {
		return err
	}
	return errors.Join(c.check(shortRef(t.j.Ref), t.j.Old == ""), c.close())
}

// headFolder returns the git folder whose HEAD points to the branch, and whose log of
// HEAD gets a line; "" if there is none.
func (t *transaction) headFolder(w worktree, found bool) (string, error) {
	if found {
		return w.git, nil
	}
	head, err := headOf(t.layout.common)
	if err != nil || head != t.j.Ref {
		return "", err
	}
	return t.layout.common, nil
}

// lockRef takes the reference's lock and checks that its value is the expected one.
func (t *transaction) lockRef() error {
	path := t.refPath(t.j.Ref)
	if t.j.Old == "" {
		if err := checkConflict(t.layout.common, t.j.Ref); err != nil {
			return err
		}
	}
	if err := t.disk.mkdirs(filepath.Dir(path)); err != nil {
		return err
	}
	if err := t.lock("ref", path+".lock"); err != nil {
		return err
	}
	now, err := readRef(t.layout.common, t.j.Ref)
	if err != nil {
		return err
	}
	if now != t.j.Old {
		return movedError(shortRef(t.j.Ref), t.j.Old, now)
	}
	return t.disk.clearFolder(path)
}

// relock takes the index's lock again after another process removed it. It stages a new file,
// because the old one may have become part of something else.
func (t *transaction) relock(lock string) error {
	if err := t.disk.remove(t.stage("index")); err != nil {
		return err
	}
	if err := t.disk.write(t.stage("index"), 0o666, nil); err != nil {
		return err
	}
	return t.lock("index", lock)
}

func (t *transaction) lockTracking(path string, create bool) error {
	if t.holds("tracking", path+".lock") {
		return nil
	}
	if create {
		if err := checkConflict(t.layout.common, t.j.Tracking); err != nil {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
	if err := t.disk.mkdirs(filepath.Dir(path)); err != nil {
		return err
	}
	return t.lock("tracking", path+".lock")
}
