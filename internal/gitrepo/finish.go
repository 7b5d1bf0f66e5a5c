package gitrepo

import (
	"errors"
	"path/filepath"
)

// finish performs the steps after the reference moved (see transaction); it may run again after the process was killed.
func (t *transaction) finish() error {
	if t.j.Ref != "" {
		w, found, err := t.layout.checkedOut(t.j.Ref)
		if err != nil {
			return err
		}
		if err := t.writeLogs(w, found); err != nil {
			return err
		}
		if found {
			if err := t.follow(w); err != nil {
				return err
			}
		}
	}
	if t.j.Tracking != "" {
		if err := t.moveTracking(); err != nil {
			return err
		}
	}
	return t.rollback()
}

func (t *transaction) entry() reflog {
	return reflog{old: t.j.Old, new: t.j.New, message: t.j.Message,
		who: Signature{Name: t.j.Name, Email: t.j.Email, When: t.j.When}}
}

func (t *transaction) writeLogs(w worktree, found bool) error {
	entry := t.entry()
	head, err := t.headFolder(w, found)
	if err != nil {
		return err
	}
	if head != "" {
		if err := t.layout.appendLog(t.disk, head, "HEAD", entry); err != nil {
			return err
		}
	}
	return t.layout.appendLog(t.disk, t.layout.common, t.j.Ref, entry)
}

// follow updates the work tree and its index to the new commit.
func (t *transaction) follow(w worktree) (err error) {
	path := filepath.Join(w.git, "index")
	if sameFile(t.stage("index"), path) {
		return nil // the index comes last, so everything is done
	}
	if !t.holds("index", path+".lock") {
		if err := t.relock(path + ".lock"); err != nil {
			return err
		}
	}
	c, err := t.checkout(w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	data, err := c.apply()
	if err != nil {
		return err
	}
	if err := t.disk.rewrite(path+".lock", data); err != nil {
		return err
	}
	return t.disk.rename(path+".lock", path)
}

// moveTracking sets the remote-tracking reference to the new commit. If git holds the reference's lock,
// it does nothing: the next fetch updates the reference.
func (t *transaction) moveTracking() error {
	path := t.refPath(t.j.Tracking)
	now, err := readRef(t.layout.common, t.j.Tracking)
	if err != nil || now == t.j.New {
		return err
	}
	err = t.lockTracking(path, now == "")
	if errors.Is(err, ErrBusy) {
		err, path = nil, ""
	}
	if err != nil || path == "" {
		return err
	}
	entry := t.entry()
	entry.old, entry.message = now, "update by push"
	if err := t.layout.appendLog(t.disk, t.layout.common, t.j.Tracking, entry); err != nil {
		return err
	}
	if err := t.disk.clearFolder(path); err != nil {
		return err
	}
	return t.disk.rename(path+".lock", path)
}

// rollback removes our locks, and the folder with the journal. After finish it only
// cleans up.
func (t *transaction) rollback() error {
	all, err := t.layout.worktrees()
	if err != nil {
		return err
	}
	folders := []string{t.layout.common}
	for _, w := range all {
		folders = append(folders, w.git)
	}
	type lock struct{ staged, path string }
	var locks []lock
	for _, dir := range folders {
		locks = append(locks, lock{"index", filepath.Join(dir, "index.lock")}, lock{"head", filepath.Join(dir, "HEAD.lock")})
	}
	if t.j.Ref != "" {
		locks = append(locks, lock{"ref", t.refPath(t.j.Ref) + ".lock"})
	}
	if t.j.Tracking != "" {
		locks = append(locks, lock{"tracking", t.refPath(t.j.Tracking) + ".lock"})
	}
	for _, l := range locks {
		if !t.holds(l.staged, l.path) {
			continue
		}
		if err := t.disk.remove(l.path); err != nil {
			return err
		}
	}
	for _, name := range []string{"journal", "journal.new", "ref", "tracking", "index", "head", ""} {
		if err := t.disk.remove(t.stage(name)); err != nil {
			return err
		}
	}
	return nil
}
