package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Recovery describes an interrupted write that Recover found. The zero Recovery means that it found none.
type Recovery struct {
	// Finished is the number of files of an interrupted write that was completed.
	Finished int
	// Cleaned is set if a write was interrupted before it was decided or after it was done: only
	// its temporary files were removed.
	Cleaned bool
	// Pending is set only by Look: a write was interrupted, or is in progress, and nothing was
	// changed.
	Pending bool
	// Changed are the files that the user changed since the interruption, sorted. They were not
	// changed.
	Changed []string
}

// Look reports whether a write to a folder is pending. It changes nothing: it is for
// commands that only read.
func Look(dir string) (Recovery, error) {
	folder, err := OpenFolder(dir)
	if err != nil {
		return Recovery{}, err
	}
	_, _, err = folder.stat(journalFile)
	var blocked *BlockedError
	pending := err == nil
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &blocked) {
		err = nil
	}
	return Recovery{Pending: pending}, errors.Join(err, folder.Close())
}

// Recover finishes an interrupted Apply of a folder: it completes the write if the journal is complete, and reverts it
// otherwise. Every command that writes calls it before it reads the folder. If no write was interrupted, it costs one
// look-up and writes nothing. It returns ErrLocked while another process is writing. It ignores temporary files of a
// write that was never decided if it cannot remove them because the folder is read-only.
func Recover(dir string) (Recovery, error) { return recoverWith(dir, newDisk) }

func recoverWith(dir string, open opener) (Recovery, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Recovery{}, nil
	}
	if err != nil {
		return Recovery{}, fmt.Errorf("opening folder %q: %w", dir, err)
	}
	folder := newFolder(root, maxRead)
	err = folder.dir(workFolder)
	_ = folder.Close()
	var blocked *BlockedError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &blocked):
		return Recovery{}, nil // the folder has no files of ours
	case err != nil:
		return Recovery{}, fmt.Errorf("searching for an interrupted write in %q: %w", dir, err)
	}
	defer bounds.Writing()()
	s, err := openSession(dir, open)
	if err != nil {
		if _, errJournal := os.Lstat(filepath.Join(dir, filepath.FromSlash(journalFile))); errors.Is(err, ErrLocked) || errJournal == nil {
			return Recovery{}, err
		}
		return Recovery{}, nil
	}
	j, err := s.readJournal()
	if errors.Is(err, fs.ErrNotExist) {
		_, begun := s.root.Lstat(stageFolder)
		return Recovery{Cleaned: s.finish() == nil && begun == nil}, nil
	}
	if err != nil {
		return Recovery{}, errors.Join(err, s.leave())
	}
	err = s.carryOut(j, false)
	var changed *ChangedError
	if errors.As(err, &changed) {
		return Recovery{Finished: len(j.Operations) - len(changed.Paths), Changed: changed.Paths}, nil
	}
	if err != nil {
		return Recovery{}, err
	}
	return Recovery{Finished: len(j.Operations)}, nil
}

func (s *session) readJournal() (*journal, error) {
	folder := newFolder(s.root, maxJournal)
	defer folder.closeLast()
	content, err := folder.ReadFile(journalFile)
	if err != nil {
		return nil, err
	}
	return decodeJournal(content)
}

// rollForward performs the operations of the journal, of which some may already be done: first removals, because folders
// may take the place of removed files, then new files. It returns the paths whose bytes are neither the old nor the new
// ones.
func (s *session) rollForward(j *journal, trusted bool) ([]string, error) {
	changed, err := s.removeOld(j)
	if err != nil {
		return nil, err
	}
	if err := s.makeParents(j); err != nil {
		return nil, err
	}
	more, err := s.moveNew(j, trusted)
	changed = append(changed, more...)
	slices.Sort(changed)
	return changed, err
}

// removeOld removes files, and folders that become empty.
func (s *session) removeOld(j *journal) (changed []string, err error) {
	folder := newFolder(s.root, maxRead)
	defer folder.closeLast()
	needed, emptied := map[string]bool{}, map[string]bool{}
	for i, op := range j.Operations {
		above := needed
		if op.New == "" {
			above = emptied
			removed, err := s.removeOne(folder, op, staged(i))
			if err != nil {
				return nil, err
			}
			if !removed {
				changed = append(changed, op.Path)
			}
		}
		for dir := range parents(op.Path) {
			above[dir] = true
		}
	}
	folder.closeLast()
	folder = newFolder(s.root, maxRead)
	dirs := slices.Collect(maps.Keys(emptied))
	sorting.Func(dirs, func(a, b string) int { return strings.Compare(b, a) }) // the deepest first
	for _, dir := range dirs {
		if needed[dir] || dir == ownFolder || folder.dir(dir) != nil {
			continue
		}
		// remove fails for a folder that is not empty. An empty folder that cannot be removed is harmless.
		_ = s.fs.remove(dir)
	}
	return changed, nil
}

// makeParents creates the folders of new files.
func (s *session) makeParents(j *journal) error {
	dirs := map[string]bool{}
	for _, op := range j.Operations {
		if op.New == "" {
			continue
		}
		for dir := range parents(op.Path) {
			if dirs[dir] {
				break
			}
			dirs[dir] = true
		}
	}
	folder := newFolder(s.root, maxRead)
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if folder.dir(path.Dir(dir)) != nil {
			continue // something blocks the path: moveNew reports it
		}
		if _, err := s.root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := s.fs.mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// moveNew moves the staged files to their final paths.
func (s *session) moveNew(j *journal, trusted bool) (changed []string, err error) {
	var mu sync.Mutex
	err = inParallel(len(j.Operations), func(next func() (int, bool)) error {
		folder := newFolder(s.root, maxRead)
		defer folder.closeLast()
		for i, ok := next(); ok; i, ok = next() {
			op := j.Operations[i]
			if op.New == "" {
				continue
			}
			moved, err := s.moveOne(folder, op, staged(i), trusted)
			if err != nil {
				return err
			}
			if !moved {
				mu.Lock()
				changed = append(changed, op.Path)
				mu.Unlock()
			}
		}
		return nil
	})
	return changed, err
}

// state is the state of the file at the path of an operation.
type state int

const (
	isGone  state = iota // the file does not exist, so that writing it loses nothing
	isOld                // the old bytes
	isNew                // the new bytes
	isOther              // other content, which belongs to the user
)

func (f *Folder) state(op operation) (state, error) {
	content, err := f.ReadFile(op.Path)
	var blocked *BlockedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return isGone, nil
	case errors.As(err, &blocked):
		return isOther, nil
	case err != nil:
		return isOther, err
	}
	switch Digest(content) {
	case op.New:
		return isNew, nil
	case op.Old:
		return isOld, nil
	}
	return isOther, nil
}
