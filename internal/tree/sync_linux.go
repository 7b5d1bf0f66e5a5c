package tree

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// fewFiles is up to how many files are synced one by one; syncing the whole file
// system is one call, but it waits for everybody's data.
const fewFiles = 16

// syncAll brings files to the disk: the whole file system at once where they are
// many, because 30,000 single syncs would take minutes.
func (d disk) syncAll(files []string) error {
	if len(files) > fewFiles {
		return d.syncFS()
	}
	for _, file := range files {
		if err := d.syncFile(file); err != nil {
			return fmt.Errorf("syncing: %w", err)
		}
	}
	return nil
}

// syncFS brings everything on the folder's file system to the disk.
func (d disk) syncFS() error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	err = unix.Syncfs(int(f.Fd()))
	return errors.Join(err, f.Close())
}

// syncDirs brings folders' names to the disk.
func (d disk) syncDirs(dirs ...string) error {
	for _, dir := range dirs {
		f, err := d.root.Open(dir)
		if err != nil {
			return err
		}
		err = f.Sync()
		// Some file systems (FUSE, CIFS) cannot sync a folder.
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
			err = nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
