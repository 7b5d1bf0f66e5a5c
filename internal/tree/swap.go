package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// moveOne moves a staged file to its final path, unless it is already there. If the path has other content, moveOne keeps
// that and returns false.
func (s *session) moveOne(folder *Folder, op operation, from string, trusted bool) (bool, error) {
	for range mostSwaps {
		state, err := folder.state(op)
		if err != nil {
			return false, err
		}
		switch state {
		case isNew:
			return s.checkExchanged(op, from)
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
			continue // it appeared or disappeared since we checked
		case err != nil:
			return false, err
		}
		return s.checkExchanged(op, from)
	}
	return false, nil
}

// mostSwaps is the maximum number of attempts for a file that another program keeps writing.
const mostSwaps = 100

// checkExchanged checks the old file after an exchange, while the new file is at its final path. It removes the file if
// it has the old bytes. Other bytes were saved between our last check and the exchange: checkExchanged moves the file
// back and returns false. It does the same for a file that another process has open for writing, whose bytes may still
// change.
func (s *session) checkExchanged(op operation, from string) (bool, error) {
	out, err := s.stagedDigest(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case out == op.Old || out == op.New:
		return true, s.removeFile(from)
	}
	// The file that the next exchange returns is the one that we put there, or was saved even later and is
	// put back as well.
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

// removeOne moves a file to the staging folder, checks it there, where no other process saves to it any more, and removes
// it. If the file was changed, removeOne moves it back and returns false.
func (s *session) removeOne(folder *Folder, op operation, to string) (bool, error) {
	if out, err := s.stagedDigest(to); err == nil { // from an interrupted write
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

// discard removes a file that was moved to the staging folder, or moves it back.
func (s *session) discard(op operation, out, to string) (bool, error) {
	if out == op.Old {
		return true, s.removeFile(to)
	}
	err := s.fs.renameNew(to, op.Path)
	if errors.Is(err, fs.ErrExist) { // saved again meanwhile: the later version is kept
		err = s.removeFile(to)
	}
	return false, err
}

// notOurs replaces the digest of a file that cannot be ours: not a regular file, too large, or
// open for writing.
const notOurs = "not ours"

// stagedDigest returns the digest of a file in the staging folder.
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
