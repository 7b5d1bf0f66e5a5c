// Package regular opens only regular files: opening a named pipe waits for its other end,
// and a device or a socket has no end.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is returned for a path that is not a regular file.
var ErrNotRegular = errors.New("is not a regular file")

// Open opens a regular file for reading. It follows symlinks.
func Open(path string) (*os.File, error) {
	return check(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// OpenIn opens a regular file below a folder. It follows no symlink out of the folder.
func OpenIn(root *os.Root, path string) (*os.File, error) {
	return check(root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

func check(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) { return read(limit)(Open(path)) }

// ReadIn reads a regular file of at most limit bytes below a folder.
func ReadIn(root *os.Root, path string, limit int64) ([]byte, error) {
	return read(limit)(OpenIn(root, path))
}

func read(limit int64) func(*os.File, error) ([]byte, error) {
	return func(f *os.File, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		data, err := io.ReadAll(io.LimitReader(f, limit+1))
		if err == nil && int64(len(data)) > limit {
			err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("larger than %d bytes", limit)}
		}
		if err != nil {
			return nil, err
		}
		return data, nil
	}
}
