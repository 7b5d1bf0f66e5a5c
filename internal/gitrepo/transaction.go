package gitrepo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fleetwright/fleetwright/internal/output"
)

// A commit's final phase, in the order in which things become visible:
//
//  1. fleetwright-commit/ in the git folder: the files that become locks, and
//     the journal;
//  2. git's locks: index.lock and HEAD.lock of the work tree, the reference's;
//  3. the checks under the locks: the reference's old value, the work tree;
//  4. the reference's lock is renamed to the reference: the decision;
//  5. reference logs, work tree, index, the remote-tracking reference;
//  6. the locks and the folder are removed, the journal first.
//
// A lock is a hard link to its file in the folder: made only where nothing
// stands, never seen half written, and after a kill known as ours and not of a
// git that runs beside us. Before the decision a journal is rolled back, after
// it forward.

const (
	stageDir = "fleetwright-commit"
	lockName = "fleetwright.lock"
	// lockWait is how long another commit is waited for.
	lockWait = 10 * time.Second
)

// journal says what a commit is about to do.
type journal struct {
	// Version of the format.
	Version int `json:"version"`
	// Ref moves from Old (empty: it is created) to New; no Ref: it stays.
	Ref string `json:"ref,omitempty"`
	Old string `json:"old,omitempty"`
	New string `json:"new"`
	// Tracking is the remote-tracking reference that follows.
	Tracking string    `json:"tracking,omitempty"`
	Name     string    `json:"name"`
	Email    string    `json:"email"`
	When     time.Time `json:"when"`
	Message  string    `json:"message"`
}

// check refuses a journal that this package didn't write: a repository may come
// from a stranger.
func (j journal) check() error {
	sig := Signature{Name: j.Name, Email: j.Email, When: j.When}
	switch {
	case j.Version != 1:
		return fmt.Errorf("version %d, want 1", j.Version)
	case !isHash(j.New) || j.Old != "" && !isHash(j.Old):
		return errors.New("no commit")
	case j.Ref != "" && (!strings.HasPrefix(j.Ref, branchPrefix) || plumbing.ReferenceName(j.Ref).Validate() != nil):
		return fmt.Errorf("%q is not a branch", j.Ref)
	case j.Tracking != "" && (!strings.HasPrefix(j.Tracking, "refs/remotes/") || plumbing.ReferenceName(j.Tracking).Validate() != nil):
		return fmt.Errorf("%q is not a remote-tracking reference", j.Tracking)
	case strings.ContainsAny(j.Message, "\n\r\x00"):
		return errors.New("a message of several lines")
	}
	return sig.check("committer")
}

func isHash(s string) bool { return len(s) == 40 && plumbing.IsHash(s) }

// transaction is one run of the final phase.
type transaction struct {
	layout layout
	disk   disk
	store  objects
	j      journal
	// locks made without a hard link, which only this process knows as its own.
	owned []string
}

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

// logMessage is what git writes to the log for the same step.
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

// tracking is where a remote's branch is remembered here, by the remote's fetch
// refspecs; empty for nowhere.
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

func (t *transaction) stage(name string) string {
	return filepath.Join(t.layout.common, stageDir, name)
}

func (t *transaction) refPath(ref string) string {
	return filepath.Join(t.layout.common, filepath.FromSlash(ref))
}

// lockRepository waits for other commits of this program to end.
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

// run moves the reference and what follows it.
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

// preflight finds, before anything is written, what would refuse the move.
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

// checkout opens the work tree with the differences that the move makes.
func (t *transaction) checkout(w worktree) (*checkout, error) {
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
	return openCheckout(w, t.disk, t.store, t.layout.config, diffs, tempFor(t.j.New))
}

// begin writes the files that become locks, and the journal last.
func (t *transaction) begin() error {
	if err := t.disk.mkdirs(t.stage("")); err != nil {
		return err
	}
	for _, name := range []string{"ref", "tracking"} {
		if err := t.disk.write(t.stage(name), 0o666, []byte(t.j.New+"\n")); err != nil {
			return err
		}
	}
	for _, name := range []string{"index", "head"} {
		if err := t.disk.write(t.stage(name), 0o666, nil); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(t.j, "", "  ")
	if err != nil {
		return err
	}
	if err := t.disk.write(t.stage("journal.new"), 0o666, append(data, '\n')); err != nil {
		return err
	}
	return t.disk.rename(t.stage("journal.new"), t.stage("journal"))
}

// lock makes a lock file of a staged one.
func (t *transaction) lock(staged, lock string) error {
	err := t.disk.link(t.stage(staged), lock)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return &lockedError{lock}
	}
	// A file system without hard links: as git does it. After a kill such a lock
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

// holds says that a lock file is ours.
func (t *transaction) holds(staged, lock string) bool {
	for _, o := range t.owned {
		if o == lock {
			return true
		}
	}
	return sameFile(t.stage(staged), lock)
}

// prepare takes git's locks and checks under them that nothing moved.
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

// headFolder is the git folder whose HEAD follows the branch, and whose log of
// HEAD gets a line.
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

// lockRef takes the reference's lock and compares its value.
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

// finish does what follows the decision; it may run again after a kill.
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

// follow brings the work tree and its index to the new commit.
func (t *transaction) follow(w worktree) (err error) {
	path := filepath.Join(w.git, "index")
	if sameFile(t.stage("index"), path) {
		return nil // the index comes last: all is done
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

// relock takes the index's lock again after somebody removed it, with a staged
// file made anew: the old one may have become something else meanwhile.
func (t *transaction) relock(lock string) error {
	if err := t.disk.remove(t.stage("index")); err != nil {
		return err
	}
	if err := t.disk.write(t.stage("index"), 0o666, nil); err != nil {
		return err
	}
	return t.lock("index", lock)
}

// moveTracking remembers the remote's head. A reference that git holds a lock of
// is left to it: the next fetch brings it.
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

// rollback removes the locks that are ours, and the folder. After finish it is
// only the cleaning.
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

// recover completes or takes back a commit that was cut off.
func (b *Branch) recover(ctx context.Context) error {
	if !exists(filepath.Join(b.layout.common, stageDir)) && !exists(filepath.Join(b.layout.common, lockName)) {
		return nil
	}
	release, err := b.layout.lockRepository(ctx)
	if err != nil {
		return err
	}
	defer release()
	return (&transaction{layout: b.layout, disk: b.disk}).recoverOther()
}

// recoverOther reads the journal that a killed process left, if there is one.
// The caller holds the repository's lock.
func (t *transaction) recoverOther() error {
	if !exists(t.stage("")) {
		return nil
	}
	if info, err := os.Lstat(t.stage("")); err != nil || !info.IsDir() {
		return fmt.Errorf("%q is not a folder: remove it", t.stage(""))
	}
	o := &transaction{layout: t.layout, disk: t.disk}
	data, err := readBounded(o.stage("journal"), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return o.rollback() // nothing had begun
	}
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, &o.j)
	if err == nil {
		err = o.j.check()
	}
	if err != nil {
		return fmt.Errorf("the journal %q is not one of ours: look at it, and remove its folder: %w", o.stage("journal"), err)
	}
	decided := o.j.Ref == ""
	if !decided {
		now, err := readRef(o.layout.common, o.j.Ref)
		if err != nil {
			return err
		}
		decided = now == o.j.New
	}
	if !decided {
		return o.rollback()
	}
	if o.store, err = openObjects(o.layout); err != nil {
		return err
	}
	if err := o.finish(); err != nil {
		return fmt.Errorf("completing commit %s on branch %q: %w", shortHash(o.j.New), shortRef(o.j.Ref), err)
	}
	return nil
}

// interrupted is the error of a commit that was cut off, or is under way, for those
// that change nothing.
func (b *Branch) interrupted() error {
	if !exists(filepath.Join(b.layout.common, stageDir)) {
		return nil
	}
	return &Advice{
		fmt.Errorf("a commit to %q was interrupted, or is under way", b.location),
		"run \"fleetwright commit\" without --dry-run, which finishes it",
	}
}
