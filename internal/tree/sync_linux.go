package tree

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// fewFiles is the maximum number of files that are synced one by one; syncing the whole file
// system is one call, but it waits for the data of all processes.
const fewFiles = 16

// syncAll syncs files to disk. If there are many, it syncs the whole file system, because 30,000
// single syncs would take minutes.
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

// syncFS syncs the folder's whole file system to disk.
func (d disk) syncFS() error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	err = unix.Syncfs(int(f.Fd()))
	return errors.Join(err, f.Close())
}

// syncDirs syncs the entries of folders to disk.
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
