package tree

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange swaps two files. Not every file system supports it.
func (d disk) exchange(a, b string) error { return d.rename2(a, b, unix.RENAME_EXCHANGE) }

// renameNew renames a file unless the new path exists.
func (d disk) renameNew(from, to string) error {
	err := d.rename2(from, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.linkNew(from, to)
	}
	return err
}

func (d disk) rename2(from, to string, flags uint) (err error) {
	left, err := d.root.Open(path.Dir(from))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, left.Close()) }()
	right, err := d.root.Open(path.Dir(to))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, right.Close()) }()
	err = unix.Renameat2(int(left.Fd()), path.Base(from), int(right.Fd()), path.Base(to), flags)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
		return errors.ErrUnsupported
	case err != nil:
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// beingWritten reports whether another process has a file open for writing, as far as the kernel knows: in that case the
// kernel grants no read lease.
func beingWritten(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return errors.Is(err, unix.EAGAIN)
}
