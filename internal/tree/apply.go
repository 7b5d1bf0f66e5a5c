package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// ChangedError lists files that changed between the plan and the write. None of them was
// written.
type ChangedError struct {
	// Paths are sorted.
	Paths []string
	// Written is set if all other files were written; otherwise none was.
	Written bool
}

// Error returns the first files, and whether the others were written.
func (e *ChangedError) Error() string {
	const some = 5
	names := make([]string, min(some, len(e.Paths)))
	for i := range names {
		names[i] = fmt.Sprintf("%q", e.Paths[i])
	}
	list := strings.Join(names, ", ")
	if more := len(e.Paths) - some; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if e.Written {
		return list + " changed during the write and was not touched; all other files were written"
	}
	return list + " changed after it was read: nothing was written, run again"
}

// ErrInterrupted is returned if a previous write to the folder was interrupted and has to be
// finished first with Recover.
var ErrInterrupted = errors.New("an earlier write to this folder was interrupted: run the command again to finish it first")

// Apply applies a plan to a folder, which it creates if it is missing: all of it, or nothing. After
// an error the folder is unchanged, with two exceptions: a *ChangedError with Written, and an error
// saying that the next Recover finishes the write (the disk failed half-way). A plan without
// changes writes nothing. If ctx ends before the write is decided, nothing is written; afterwards
// the write is finished. Each file must still be as the plan saw it. Existing files keep their
// permissions.
func Apply(ctx context.Context, dir string, p *Plan) error {
	return applyWith(ctx, dir, p, newDisk)
}

func applyWith(ctx context.Context, dir string, p *Plan, open opener) error {
	if p.Empty() {
		return nil
	}
	defer bounds.Writing()()
	s, j, err := begin(ctx, dir, p, open)
	if err != nil {
		return err
	}
	if err := s.decide(j); err != nil {
		return s.revert(err)
	}
	return s.carryOut(j, true)
}

// begin locks a folder and prepares a write to it, which can still be reverted.
func begin(ctx context.Context, dir string, p *Plan, open opener) (*session, *journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("creating folder %q: %w", dir, err)
	}
	s, err := openSession(dir, open)
	if err != nil {
		return nil, nil, err
	}
	switch _, err := s.root.Lstat(journalFile); {
	case err == nil:
		return nil, nil, errors.Join(ErrInterrupted, s.leave())
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, errors.Join(err, s.leave())
	}
	j, err := s.prepare(ctx, slices.Collect(p.Changes()), p.relied)
	if err != nil {
		return nil, nil, s.revert(err)
	}
	return s, j, nil
}

// revert reverts a write that was not decided.
func (s *session) revert(err error) error {
	return fmt.Errorf("nothing was written to %q: %w", s.dir, errors.Join(err, s.finish()))
}

// carryOut performs the operations of the journal and ends the session.
func (s *session) carryOut(j *journal, trusted bool) error {
	changed, err := s.rollForward(j, trusted)
	if err != nil {
		return fmt.Errorf("writing to %q stopped half-way; the next command finishes it: %w", s.dir, errors.Join(err, s.leave()))
	}
	if err := s.finish(); err != nil {
		return fmt.Errorf("cleaning up in %q: %w", s.dir, err)
	}
	if len(changed) > 0 {
		return &ChangedError{Paths: changed, Written: true}
	}
	return nil
}

// prepare performs all steps that may fail before the write is decided: it checks and stages the
// files. After an error, finish reverts them.
func (s *session) prepare(ctx context.Context, steps []Step, relied []reliance) (*journal, error) {
	if err := s.clean(); err != nil {
		return nil, err
	}
	if err := s.unchanged(steps, relied); err != nil {
		return nil, err
	}
	if err := s.writable(steps); err != nil {
		return nil, err
	}
	j := &journal{Version: journalVersion, Operations: make([]operation, len(steps))}
	for i, step := range steps {
		j.Operations[i].Path = step.Path
		if step.Old != nil {
			j.Operations[i].Old = Digest(step.Old)
		}
		if step.New != nil {
			j.Operations[i].New = Digest(step.New)
		}
		// A journal that the next command could not read must not be decided.
		if err := j.Operations[i].check(); err != nil {
			return nil, err
		}
	}
	if err := s.stage(ctx, steps); err != nil {
		return nil, err
	}
	return j, ctx.Err()
}

// unchanged returns an error unless each file is as the plan saw it, including files that the plan does not
// change: a comparison during another write would have seen some files before and some
// after that write, and the plan would mix both.
func (s *session) unchanged(steps []Step, relied []reliance) error {
	var mu sync.Mutex
	var changed []string
	err := inParallel(len(steps)+len(relied), func(next func() (int, bool)) error {
		folder := newFolder(s.root, maxRead)
		defer folder.closeLast()
		for i, ok := next(); ok; i, ok = next() {
			var file string
			var same bool
			var err error
			if i < len(steps) {
				file = steps[i].Path
				same, err = folder.holds(file, steps[i].Old)
			} else {
				file = relied[i-len(steps)].path
				same, err = folder.asRelied(relied[i-len(steps)])
			}
			if err != nil {
				return err
			}
			if !same {
				mu.Lock()
				changed = append(changed, file)
				mu.Unlock()
			}
		}
		return nil
	})
	if err == nil && len(changed) > 0 {
		// A file at the path of a new folder is removed first.
		changed = s.notFreed(changed, steps)
	}
	if err == nil && len(changed) > 0 {
		slices.Sort(changed)
		err = &ChangedError{Paths: changed}
	}
	return err
}

// notFreed returns the changed paths without those below a file that the same steps remove.
func (s *session) notFreed(changed []string, steps []Step) []string {
	deleted := map[string]bool{}
	for _, step := range steps {
		if step.Action == Delete {
			deleted[step.Path] = true
		}
	}
	return slices.DeleteFunc(changed, func(p string) bool {
		if deleted[p] {
			return false
		}
		for dir := range parents(p) {
			if deleted[dir] {
				return true
			}
		}
		return false
	})
}

// holds reports whether a file has the content, or is missing if content is nil.
func (f *Folder) holds(p string, content []byte) (bool, error) {
	return f.isAs(p, content == nil, func(found []byte) bool { return bytes.Equal(found, content) })
}

// asRelied reports whether a file is as the comparison saw it.
func (f *Folder) asRelied(r reliance) (bool, error) {
	return f.isAs(r.path, r.digest == "", func(found []byte) bool { return Digest(found) == r.digest })
}

// isAs reports whether a file is in the expected state: it does not exist if missing is set, and otherwise same returns
// true for its content.
func (f *Folder) isAs(p string, missing bool, same func(found []byte) bool) (bool, error) {
	found, err := f.ReadFile(p)
	var blocked *BlockedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing, nil
	case errors.As(err, &blocked):
		return false, nil
	case err != nil:
		return false, err
	}
	return !missing && same(found), nil
}

// writable returns an error if an existing folder of the steps is not writable.
func (s *session) writable(steps []Step) error {
	seen := map[string]bool{}
	for _, step := range steps {
		dir := path.Dir(step.Path)
		for !seen[dir] {
			seen[dir] = true
			if info, err := s.root.Lstat(dir); err == nil && info.IsDir() {
				if err := checkWritable(s.dir, dir); err != nil {
					return err
				}
				break
			}
			dir = path.Dir(dir)
		}
	}
	return nil
}

// stage writes all new content into the staging folder, which only its owner may enter, with the
// permissions of the final files.
func (s *session) stage(ctx context.Context, steps []Step) error {
	if err := s.fs.mkdir(stageFolder, 0o700); err != nil {
		return err
	}
	err := inParallel(len(steps), func(next func() (int, bool)) error {
		for i, ok := next(); ok; i, ok = next() {
			if steps[i].New == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			perm, exact := fs.FileMode(0o644), false
			if steps[i].Old != nil {
				info, err := s.root.Lstat(steps[i].Path)
				if err != nil {
					return err
				}
				perm, exact = info.Mode().Perm(), true
			}
			if err := s.fs.write(staged(i), steps[i].New, perm, exact); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var files []string
	for i, step := range steps {
		if step.New != nil {
			files = append(files, staged(i))
		}
	}
	return s.fs.syncAll(files)
}

// decide renames the journal to its final name: from then on, the write is finished even after a kill.
func (s *session) decide(j *journal) error {
	content, err := j.encode()
	if err != nil {
		return err
	}
	if err := s.fs.write(journalDraft, content, 0o600, false); err != nil {
		return err
	}
	if err := s.fs.syncFile(journalDraft); err != nil {
		return err
	}
	if err := s.fs.rename(journalDraft, journalFile); err != nil {
		return err
	}
	return s.fs.syncDirs(stageFolder, workFolder, ownFolder, ".")
}

// inParallel runs a few workers on n pieces of work, which next assigns in order until none is left or a worker failed.
// It returns the first error.
func inParallel(n int, work func(next func() (int, bool)) error) error {
	var at atomic.Int64
	var once sync.Once
	var first error
	next := func() (int, bool) {
		i := int(at.Add(1)) - 1
		return i, i < n
	}
	var group sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			if err := work(next); err != nil {
				once.Do(func() { first = err })
				at.Store(int64(n))
			}
		})
	}
	group.Wait()
	return first
}
