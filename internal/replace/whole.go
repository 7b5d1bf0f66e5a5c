package replace

import (
	"errors"
	"io/fs"
	"os"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// Whole writes a file of a folder completely or not at all: a reader sees the old or the new content. No link leads it
// out of the folder. draft is the file's name until it is complete.
func Whole(root *os.Root, draft, name string, perm fs.FileMode, write func(*os.File) error) error {
	defer bounds.Writing()()
	if err := create(root, draft, perm, write); err != nil {
		return err
	}
	if err := root.Rename(draft, name); err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	return nil
}

// New is like Whole for a file that does not exist. If it exists, it stays, and the error is fs.ErrExist.
func New(root *os.Root, draft, name string, perm fs.FileMode, write func(*os.File) error) error {
	defer bounds.Writing()()
	if err := create(root, draft, perm, write); err != nil {
		return err
	}
	err := root.Link(draft, name) // unlike a rename, it fails if the file exists
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = create(root, name, perm, write) // the file system has no hard links
	}
	return errors.Join(err, root.Remove(draft))
}

// create creates a draft, whose name no other process uses.
func create(root *os.Root, draft string, perm fs.FileMode, write func(*os.File) error) error {
	file, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	return nil
}
