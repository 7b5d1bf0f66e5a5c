//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package gitrepo

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes an exclusive lock on a file, which the kernel gives back when
// the process ends in whatever way. It reports whether the lock was free. The
// release function removes the file.
func tryLock(path string) (release func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, nil
		}
		return nil, false, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	// The holder before us may have removed the file between open and lock.
	mine, err1 := f.Stat()
	there, err2 := os.Stat(path)
	if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
		_ = f.Close()
		return nil, false, nil
	}
	return func() {
		_ = os.Remove(path)
		_ = f.Close()
	}, true, nil
}
