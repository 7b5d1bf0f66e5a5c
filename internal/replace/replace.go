// Package replace writes files anew, each as a whole or not at all.
package replace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Files replaces files in a folder, in the order of their paths, each as a whole or not at all,
// with its mode. It never leaves the folder, nor follows a link. The paths are from the folder,
// with forward slashes.
func Files(dir string, files map[string][]byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := one(root, name, files[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// File replaces one file, as [Files] does.
func File(file string, content []byte) (err error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := one(root, filepath.Base(file), content); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// one writes beside the file and puts that in its place.
func one(root *os.Root, name string, content []byte) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+".fleetwright")
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another run is writing it, or was cut off: remove %s", temp)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}
