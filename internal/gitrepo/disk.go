package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// disk performs all changes of this package to a repository's files. It calls the step hook
// before each change (and in the middle of a write), so that a test can end the process at each of
// them.
type disk struct {
	step func(op, path string)
	// dirBits and fileBits are added to the modes of new files in the git folder
	// (core.sharedRepository).
	dirBits, fileBits fs.FileMode
}

func (d disk) at(op, path string) {
	if d.step != nil {
		d.step(op, path)
	}
}

// mkdirs creates a folder and its missing parents.
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
	return d.share(path)
}

// share adds the permissions of a shared repository to a folder that has none of them.
func (d disk) share(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&d.dirBits == d.dirBits {
		return err
	}
	return os.Chmod(dir, info.Mode()|d.dirBits|fs.ModeSetgid)
}

// write creates a file in two steps, so that a test can end the process between them.
func (d disk) write(path string, data []byte) (err error) {
	d.at("create", path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if d.fileBits != 0 {
		if err := f.Chmod(0o666 | d.fileBits); err != nil {
			return err
		}
	}
	half := len(data) / 2
	if _, err := f.Write(data[:half]); err != nil {
		return err
	}
	d.at("write-half", path)
	if _, err := f.Write(data[half:]); err != nil {
		return err
	}
	return f.Sync()
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

// remove deletes a file or an empty folder. It ignores one that does not exist.
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

// removeEmpty deletes a folder that contains nothing but empty folders.
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

// syncDir syncs a folder's entries to disk. Windows has no such call.
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
