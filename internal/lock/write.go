package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/fleetwright/fleetwright/internal/regular"
)

// Read reads the lock of the repository in a folder: an empty one where there is none.
func Read(dir string) (*Lock, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := regular.ReadIn(root, File, most)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", File, err)
	}
	return Decode(data)
}

// Write replaces the lock of the repository in a folder: a reader sees the old or the new one. No link leads it out of
// the folder.
func (l *Lock) Write(dir string) error {
	data, err := l.Encode()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(path.Dir(File), 0o755); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d.tmp", File, os.Getpid())
	file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(temporary, File)
	}
	if err != nil {
		_ = root.Remove(temporary)
	}
	return err
}
