package gitrepo

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/go-git/go-billy/v5"

	"github.com/fleetwright/fleetwright/internal/regular"
)

// regularFiles is a file system that opens only regular files: opening a named pipe would wait for its
// other end.
type regularFiles struct{ billy.Filesystem }

// Open opens a file to read it.
func (r regularFiles) Open(name string) (billy.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file.
func (r regularFiles) OpenFile(name string, flag int, perm fs.FileMode) (billy.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		return r.Filesystem.OpenFile(name, flag, perm)
	}
	f, err := r.Filesystem.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	// A pipe without another end opens at once, and reads as empty.
	if info, err := r.Stat(name); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: regular.ErrNotRegular}
	}
	return f, nil
}

// Chroot returns a folder of the file system.
func (r regularFiles) Chroot(path string) (billy.Filesystem, error) {
	below, err := r.Filesystem.Chroot(path)
	if err != nil {
		return nil, err
	}
	return regularFiles{below}, nil
}

// Capabilities returns the capabilities of the underlying file system.
func (r regularFiles) Capabilities() billy.Capability { return billy.Capabilities(r.Filesystem) }
