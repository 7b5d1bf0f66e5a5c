package repository

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// memory is a source of files in memory, by path.
type memory map[string][]byte

func (m memory) read(p string, limit int64) ([]byte, error) {
	data, ok := m[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(p, int64(len(data)), limit)
	}
	return data, nil
}

// reader is a source that reads files with a function.
type reader struct {
	sizes  map[string]int64
	one    func(path string) ([]byte, error)
	failed *failure
}

// failure is the first error that is not a limit.
type failure struct {
	mu  sync.Mutex
	err error
}

func (r reader) read(p string, limit int64) ([]byte, error) {
	size, ok := r.sizes[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if size > limit {
		return nil, tooLarge(p, size, limit)
	}
	data, err := r.one(p)
	if exceeded := (*bounds.Error)(nil); errors.As(err, &exceeded) {
		return nil, &Error{Reason: Exceeded, Path: p, Message: exceeded.Error()}
	}
	if err == nil && int64(len(data)) > limit {
		return nil, tooLarge(p, int64(len(data)), limit)
	}
	if err != nil {
		r.failed.mu.Lock()
		defer r.failed.mu.Unlock()
		r.failed.err = cmp.Or(r.failed.err, err)
	}
	return data, err
}

// folder is a source that reads from a folder. It opens the folder each time, so that a Repository
// keeps no file open.
type folder struct{ path string }

func (f folder) read(p string, limit int64) ([]byte, error) {
	dir, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return folderAt{dir}.read(p, limit)
}

// folderAt is a source that reads from an open folder. os.Root refuses paths out of it.
type folderAt struct{ root *os.Root }

func (f folderAt) read(p string, limit int64) ([]byte, error) {
	// Non-blocking, because opening a named pipe would wait forever.
	file, err := f.root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Reason: NotAFile, Path: p, Message: "is not a regular file"}
	}
	if info.Size() > limit {
		return nil, tooLarge(p, info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(p, int64(len(data)), limit)
	}
	return data, nil
}

func tooLarge(p string, size, limit int64) *Error {
	return &Error{Reason: TooLarge, Path: p,
		Message: fmt.Sprintf("is %s; files up to %s are read", megabytes(size), megabytes(limit))}
}
