//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package gitrepo

import (
	"errors"
	"io/fs"
	"os"
)

// tryLock takes a lock by making a file. Where the system has no advisory locks
// the file stays after a kill and has to be removed by hand.
func tryLock(path string) (release func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return func() {
		_ = f.Close()
		_ = os.Remove(path)
	}, true, nil
}
