package gitrepo

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	stageDir = "fleetwright-commit"
	lockName = "fleetwright.lock"
	// lockWait is how long a commit waits for another one.
	lockWait = 10 * time.Second
)

// journal records the steps of a commit before they are taken.
type journal struct {
	// Version of the format.
	Version int `json:"version"`
	// Ref moves from Old to New. Old is empty if Ref is created; Ref is empty if no reference moves.
	Ref string `json:"ref,omitempty"`
	Old string `json:"old,omitempty"`
	New string `json:"new"`
	// Tracking is the remote-tracking reference that is updated as well.
	Tracking string    `json:"tracking,omitempty"`
	Name     string    `json:"name"`
	Email    string    `json:"email"`
	When     time.Time `json:"when"`
	Message  string    `json:"message"`
}

// check returns an error for a journal that this package didn't write: a repository may be
// a stranger's.
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

// transaction performs the final steps of a commit.
type transaction struct {
	layout layout
	disk   disk
	store  objects
	j      journal
	// owned are the locks that were created without a hard link; only this process knows that it owns them.
	owned []string
}

func (t *transaction) stage(name string) string {
	return filepath.Join(t.layout.common, stageDir, name)
}

func (t *transaction) refPath(ref string) string {
	return filepath.Join(t.layout.common, filepath.FromSlash(ref))
}

// checkout opens the work tree with the differences between the old and the new commit.
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

// begin writes the files that become locks, and then the journal.
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
