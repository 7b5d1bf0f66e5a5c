package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// moveOne moves a staged file into its place, unless it is there already. It
// reports false when something else is there, which stays.
func (s *session) moveOne(folder *Folder, op operation, from string, trusted bool) (bool, error) {
	for range mostSwaps {
		state, err := folder.state(op)
		if err != nil {
			return false, err
		}
		switch state {
		case isNew:
			return s.settle(op, from)
		case isOther:
			return false, nil
		}
		if !trusted {
			if there, err := s.stagedDigest(from); err != nil || there != op.New {
				return false, &FileError{
					File: from, Hint: hintAbandon,
					Message: fmt.Sprintf("the bytes of an interrupted write to %q are missing or damaged", op.Path),
				}
			}
		}
		if state == isGone {
			err = s.fs.renameNew(from, op.Path)
		} else {
			err = s.fs.exchange(from, op.Path)
		}
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return true, s.fs.rename(from, op.Path)
		case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
			continue // it came or went since we looked
		case err != nil:
			return false, err
		}
		return s.settle(op, from)
	}
	return false, nil
}

// mostSwaps bounds how often a file is tried that somebody else keeps writing.
const mostSwaps = 100

// settle looks at what an exchange brought out, where the file's new bytes are in
// their place. The bytes from before are removed. Anything else was saved between
// our last look and the exchange: it goes back, and settle reports false. So does
// a file that somebody has open for writing, whose bytes may still come.
func (s *session) settle(op operation, from string) (bool, error) {
	out, err := s.stagedDigest(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case out == op.Old || out == op.New:
		return true, s.removeFile(from)
	}
	// What comes out now is what we put there, or was saved later still, and is
	// put back in turn.
	placed := op.New
	for range mostSwaps {
		err := s.fs.exchange(from, op.Path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported) {
			if err = s.fs.renameNew(from, op.Path); errors.Is(err, fs.ErrExist) {
				continue
			}
			return false, err
		}
		if err != nil {
			return false, err
		}
		next, err := s.stagedDigest(from)
		if err != nil {
			return false, err
		}
		if next == placed {
			return false, nil
		}
		placed, out = out, next
	}
	return false, nil
}

// removeOne takes a file out of its place, looks at it there, where nobody saves
// to it any more, and removes it. One that is not as it was goes back, and
// removeOne reports false.
func (s *session) removeOne(folder *Folder, op operation, to string) (bool, error) {
	if out, err := s.stagedDigest(to); err == nil { // of a write that was cut off here
		if gone, err := s.discard(op, out, to); err != nil || !gone {
			return gone, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	state, err := folder.state(op)
	if err != nil || state != isOld {
		return state != isOther, err
	}
	if err := s.fs.rename(op.Path, to); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, err
	}
	out, err := s.stagedDigest(to)
	if err != nil {
		return false, err
	}
	return s.discard(op, out, to)
}

// discard removes a file that was taken out of its place, or puts it back.
func (s *session) discard(op operation, out, to string) (bool, error) {
	if out == op.Old {
		return true, s.removeFile(to)
	}
	err := s.fs.renameNew(to, op.Path)
	if errors.Is(err, fs.ErrExist) { // saved again meanwhile: the later one counts
		err = s.removeFile(to)
	}
	return false, err
}

// notOurs is the digest of what is no file of ours: no regular file, too large, or
// open for writing.
const notOurs = "not ours"

// stagedDigest is the digest of a file in the staging folder.
func (s *session) stagedDigest(file string) (string, error) {
	info, err := s.root.Lstat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRead {
		return notOurs, nil
	}
	f, err := s.root.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if beingWritten(f) {
		return notOurs, nil
	}
	content, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err != nil {
		return "", fmt.Errorf("reading %q: %w", file, err)
	}
	return Digest(content), nil
}
