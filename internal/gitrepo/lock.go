package gitrepo

import (
	"errors"
	"os"
)

// errHeld is returned if another process holds a lock.
var errHeld = errors.New("held")

// tryLock takes an exclusive lock on a file, which the operating system releases when the process
// ends for any reason. It reports whether the lock was free. The release function removes the file.
func tryLock(path string) (release func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, false, err
	}
	err = lockFile(f)
	// The previous holder may have removed the file between open and lock.
	if err == nil && !stillThere(f, path) {
		err = errHeld
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, errHeld) {
			err = nil
		}
		return nil, false, err
	}
	return func() {
		_ = os.Remove(path) // on systems that cannot remove open files, the unlocked file remains
		_ = f.Close()
	}, true, nil
}

func stillThere(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}
