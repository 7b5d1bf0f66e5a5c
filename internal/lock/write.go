package lock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/replace"
)

// Read reads the lock of the repository in a folder. Without a lock, it returns an empty one.
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

// Write replaces the lock of the repository in a folder: a reader sees the old or the new one. It follows no symlink out
// of the folder.
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
	return replace.Whole(root, File+"."+rand.Text()+".tmp", File, 0o644, func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Sync())
	})
}
