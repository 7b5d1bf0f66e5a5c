package gitrepo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// disk is the only way in which this package changes files of a repository. The
// step hook is called before each change (and in the middle of a write), so that
// a test can end the process at every one of them.
type disk struct {
	step func(op, path string)
	// dirBits and fileBits are added to the modes of what is made in the git
	// folder (core.sharedRepository).
	dirBits, fileBits fs.FileMode
}

func (d disk) at(op, path string) {
	if d.step != nil {
		d.step(op, path)
	}
}

// mkdirs makes a folder and its missing parents.
func (d disk) mkdirs(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.mkdirs(filepath.Dir(path)); err != nil {
		return err
	}
	d.at("mkdir", path)
	if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return err
	}
	if d.dirBits == 0 {
		return nil
	}
	info, err = os.Stat(path)
	if err != nil {
		return err
	}
	return os.Chmod(path, info.Mode()|d.dirBits|fs.ModeSetgid)
}

// create makes a new file, fills it and brings it to the medium.
func (d disk) create(path string, perm fs.FileMode, fill func(io.ReadWriteSeeker) error) (err error) {
	d.at("create", path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if d.fileBits != 0 {
		if err := f.Chmod(perm | d.fileBits); err != nil {
			return err
		}
	}
	d.at("write", path)
	if err := fill(f); err != nil {
		return err
	}
	return f.Sync()
}

// write makes a new file with the given content.
func (d disk) write(path string, perm fs.FileMode, data []byte) error {
	return d.create(path, perm, func(w io.ReadWriteSeeker) error { return d.halves(w, path, data) })
}

// halves writes in two steps, so that a test can end the process between them.
func (d disk) halves(w io.Writer, path string, data []byte) error {
	half := len(data) / 2
	if _, err := w.Write(data[:half]); err != nil {
		return err
	}
	d.at("write-half", path)
	_, err := w.Write(data[half:])
	return err
}

// rewrite replaces the content of a file in place: only for lock files that
// nobody reads.
func (d disk) rewrite(path string, data []byte) (err error) {
	d.at("rewrite", path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := d.halves(f, path, data); err != nil {
		return err
	}
	return f.Sync()
}

// appendTo adds data to a file in one write, making it where it is missing.
func (d disk) appendTo(path string, data []byte) (err error) {
	d.at("append", path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666|d.fileBits)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(data)
	return err
}

func (d disk) link(from, to string) error {
	d.at("link", to)
	return os.Link(from, to)
}

func (d disk) rename(from, to string) error {
	d.at("rename", to)
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// remove deletes a file or an empty folder; a missing one is fine.
func (d disk) remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d.at("remove", path)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeEmpty deletes a folder when it holds nothing but empty folders.
func (d disk) removeEmpty(path string) error {
	items, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, item := range items {
		if !item.IsDir() {
			return &fs.PathError{Op: "remove", Path: path, Err: errors.New("the folder is not empty")}
		}
		if err := d.removeEmpty(filepath.Join(path, item.Name())); err != nil {
			return err
		}
	}
	return d.remove(path)
}

// syncDir brings a folder's entries to the medium. Windows has no such call.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
