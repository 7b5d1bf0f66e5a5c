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
)

// ChangedError lists files that changed under a write's feet. None of them was
// touched.
type ChangedError struct {
	// Paths are sorted.
	Paths []string
	// Written says that everything else was written; otherwise nothing was.
	Written bool
}

// Error names the first files and says what became of the rest.
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
		return list + " changed during the write: left as found, everything else is written"
	}
	return list + " changed since it was read: nothing was written, run again"
}

// ErrInterrupted says that a write to the folder was interrupted before this
// one, and has to be finished first with Recover.
var ErrInterrupted = errors.New("an earlier write to this folder was interrupted: run again to finish it first")

// Apply does what a plan says to a folder, which is made when missing: all of it,
// or nothing. An error leaves the folder as it was, but for two: a *ChangedError
// with Written, and one that says that the next Recover finishes the write (the
// disk failed half-way). A plan without changes touches nothing. When ctx ends
// before the write is decided, nothing is written; afterwards it is finished.
//
// Each file must still be as the plan saw it. Files that exist keep their
// permissions.
func Apply(ctx context.Context, dir string, p *Plan) error {
	return applyWith(ctx, dir, p, newDisk)
}

func applyWith(ctx context.Context, dir string, p *Plan, open opener) error {
	if p.Empty() {
		return nil
	}
	s, j, err := begin(ctx, dir, p, open)
	if err != nil {
		return err
	}
	if err := s.decide(j); err != nil {
		return s.takeBack(err)
	}
	return s.carryOut(j, true)
}

// begin locks a folder and prepares a write to it, which is not decided yet.
func begin(ctx context.Context, dir string, p *Plan, open opener) (*session, *journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("making folder %q: %w", dir, err)
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
	j, err := s.prepare(ctx, slices.Collect(p.Changes()))
	if err != nil {
		return nil, nil, s.takeBack(err)
	}
	return s, j, nil
}

// takeBack ends a write that was not decided.
func (s *session) takeBack(err error) error {
	return fmt.Errorf("nothing was written to %q: %w", s.dir, errors.Join(err, s.finish()))
}

// carryOut does what the journal says and ends the session.
func (s *session) carryOut(j *journal, trusted bool) error {
	changed, err := s.rollForward(j, trusted)
	if err != nil {
		return fmt.Errorf("writing to %q stopped half-way, and the next command finishes it: %w", s.dir, errors.Join(err, s.leave()))
	}
	if err := s.finish(); err != nil {
		return fmt.Errorf("cleaning up in %q: %w", s.dir, err)
	}
	if len(changed) > 0 {
		return &ChangedError{Paths: changed, Written: true}
	}
	return nil
}

// prepare does everything that may fail before the write is decided: it checks
// and stages. After an error, finish takes it all back.
func (s *session) prepare(ctx context.Context, steps []Step) (*journal, error) {
	if err := s.clean(); err != nil {
		return nil, err
	}
	if err := s.unchanged(steps); err != nil {
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
		// What the next command could not read must not be decided.
		if err := j.Operations[i].check(); err != nil {
			return nil, err
		}
	}
	if err := s.stage(ctx, steps); err != nil {
		return nil, err
	}
	return j, ctx.Err()
}

// unchanged fails unless each file is as the plan saw it.
func (s *session) unchanged(steps []Step) error {
	var mu sync.Mutex
	var changed []string
	err := inParallel(len(steps), func(next func() (int, bool)) error {
		folder := newFolder(s.root, maxRead)
		defer folder.closeLast()
		for i, ok := next(); ok; i, ok = next() {
			same, err := folder.holds(steps[i].Path, steps[i].Old)
			if err != nil {
				return err
			}
			if !same {
				mu.Lock()
				changed = append(changed, steps[i].Path)
				mu.Unlock()
			}
		}
		return nil
	})
	if err == nil && len(changed) > 0 {
		// A file that is replaced by a folder of new files is removed first.
		changed = s.notFreed(changed, steps)
	}
	if err == nil && len(changed) > 0 {
		slices.Sort(changed)
		err = &ChangedError{Paths: changed}
	}
	return err
}

// notFreed drops the paths below a file that the same steps remove.
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

// holds reports whether a file has these bytes, or is missing when they are nil.
func (f *Folder) holds(p string, content []byte) (bool, error) {
	found, err := f.ReadFile(p)
	var blocked *BlockedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content == nil, nil
	case errors.As(err, &blocked):
		return false, nil
	case err != nil:
		return false, err
	}
	return content != nil && bytes.Equal(found, content), nil
}

// writable fails when one of the folders that exist cannot be written to.
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

// stage writes all new bytes into the staging folder, which only its owner may
// enter, with the permissions that they will have in their place.
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

// decide puts the journal in place: from here on, the write is finished.
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

// inParallel lets a few workers share n pieces of work, which next hands out in
// order until none is left or one worker failed. It returns the first error.
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
