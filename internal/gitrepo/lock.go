package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fleetwright/fleetwright/internal/tree"
)

const (
	lockName = "fleetwright.lock"
	// lockWait is how long a commit waits for another one.
	lockWait = 10 * time.Second
)

// lockRepository waits until other commits of this program, and the git processes that they started, have ended, and
// acquires the program's own lock.
func (l layout) lockRepository(ctx context.Context) (lock *os.File, release func(), err error) {
	path := filepath.Join(l.common, lockName)
	late := time.After(lockWait)
	for {
		lock, err := takeLock(path)
		if err == nil {
			return lock, func() {
				_ = os.Remove(path) // on systems that cannot remove open files, the unlocked file remains
				_ = lock.Close()
			}, nil
		}
		if !errors.Is(err, tree.ErrLocked) {
			return nil, nil, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-late:
			return nil, nil, fmt.Errorf("%w: another commit holds %q", ErrBusy, path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// takeLock acquires an exclusive lock on a file. The operating system releases it when all processes that hold it have
// ended.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	// The previous holder may have removed the file between open and lock.
	if err = tree.TryLock(f); err == nil && !stillThere(f, path) {
		err = tree.ErrLocked
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func stillThere(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}
