//go:build unix && !solaris && !aix

package gitrepo

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks an open file until it is closed or the process ends.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errHeld
	}
	return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}
