package gitrepo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// recover completes or reverts an interrupted commit.
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

// recoverOther reads the journal that a killed process left, if there is one, and completes or reverts its commit.
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
		return o.rollback() // the commit had not started
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

// interrupted returns an error if a commit was interrupted, or is in progress, for callers
// that must change nothing.
func (b *Branch) interrupted() error {
	if !exists(filepath.Join(b.layout.common, stageDir)) {
		return nil
	}
	return &Advice{
		fmt.Errorf("a commit to %q was interrupted, or is under way", b.location),
		"run \"fleetwright commit\" without --dry-run, which finishes it",
	}
}
