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

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bounds"
)

// stageDir is the folder in git's folder for the files of a commit in progress.
const stageDir = "fleetwright-commit"

// journal names the reference that a commit moves. The reference shows whether it has moved.
type journal struct {
	// Version of the format.
	Version int `json:"version"`
	// Ref moves from Old to New. Old is empty if Ref is created.
	Ref string `json:"ref"`
	Old string `json:"old,omitempty"`
	New string `json:"new"`
}

// check returns an error for a journal that this package didn't write, because a repository may be a stranger's.
func (j journal) check() error {
	switch {
	case j.Version != 2:
		return fmt.Errorf("version %d, want 2", j.Version)
	case !isHash(j.New) || j.Old != "" && !isHash(j.Old):
		return errors.New("no commit")
	case !strings.HasPrefix(j.Ref, branchPrefix) || plumbing.ReferenceName(j.Ref).Validate() != nil:
		return fmt.Errorf("%q is not a branch", j.Ref)
	}
	return nil
}

func isHash(s string) bool { return len(s) == 40 && plumbing.IsHash(s) }

func (t *transaction) stage(name string) string {
	return filepath.Join(t.layout.common, stageDir, name)
}

// begin writes the file that becomes a lock, and then the journal.
func (t *transaction) begin(lock string) error {
	data, err := json.MarshalIndent(t.j, "", "  ")
	if err != nil {
		return err
	}
	if err := t.disk.mkdirs(t.stage("")); err != nil {
		return err
	}
	if err := t.disk.write(t.stage("lock"), []byte(lock)); err != nil {
		return err
	}
	if err := t.disk.write(t.stage("journal.new"), append(data, '\n')); err != nil {
		return err
	}
	return t.disk.rename(t.stage("journal.new"), t.stage("journal"))
}

// end removes the journal, our locks, and the folder.
func (t *transaction) end() error {
	if err := t.disk.remove(t.stage("journal")); err != nil {
		return err
	}
	all, err := t.layout.worktrees()
	if err != nil {
		return err
	}
	var locks []string
	if t.j.Ref != "" {
		locks = append(locks, t.refPath()+".lock")
	}
	for _, w := range all {
		locks = append(locks, filepath.Join(w.git, "index.lock"))
	}
	for _, lock := range locks {
		if !t.holds(lock) {
			continue
		}
		if err := t.disk.remove(lock); err != nil {
			return err
		}
	}
	t.disk.at("remove", t.stage(""))
	return os.RemoveAll(t.stage(""))
}

// recover completes or reverts an interrupted commit.
func (b *Branch) recover(ctx context.Context) error {
	if !exists(filepath.Join(b.layout.common, stageDir)) && !exists(filepath.Join(b.layout.common, lockName)) {
		return nil
	}
	lock, release, err := b.layout.lockRepository(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer bounds.Writing()()
	t := b.newTransaction("")
	t.git.held = lock
	if t.store, err = openObjects(b.layout); err != nil {
		return err
	}
	return t.recoverOther(ctx)
}

// recoverOther reads the journal that a killed process left, if it exists, and completes or reverts its commit. The
// caller holds the repository's lock.
func (t *transaction) recoverOther(ctx context.Context) error {
	if !exists(t.stage("")) {
		return nil
	}
	if info, err := os.Lstat(t.stage("")); err != nil || !info.IsDir() {
		return fmt.Errorf("%q is not a folder: remove it", t.stage(""))
	}
	o := *t
	o.j = journal{}
	data, err := readBounded(o.stage("journal"), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return o.end() // the commit had not started, or it is complete
	}
	if err != nil {
		return err
	}
	if err = json.Unmarshal(data, &o.j); err == nil {
		err = o.j.check()
	}
	if err != nil {
		return fmt.Errorf("the journal %q was not written by fleetwright: check it, and remove its folder: %w", o.stage("journal"), err)
	}
	now, err := readRef(o.layout.common, o.j.Ref)
	if err != nil {
		return err
	}
	if now == o.j.New {
		if err := o.follow(ctx); err != nil {
			return fmt.Errorf("completing commit %s on branch %q: %w", shortHash(o.j.New), shortRef(o.j.Ref), err)
		}
	}
	return o.end()
}

// interrupted returns an error if a commit was interrupted, or is in progress, for callers
// that must change nothing.
func (b *Branch) interrupted() error {
	if !exists(filepath.Join(b.layout.common, stageDir)) {
		return nil
	}
	return advice.New(
		fmt.Errorf("a commit to %q was interrupted, or is in progress", b.location),
		"run \"fleetwright commit\" without --dry-run, which finishes it",
	)
}
