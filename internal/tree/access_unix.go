//go:build unix

package tree

import (
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkWritable returns an error if files in an existing folder cannot be created, replaced
// or removed.
func checkWritable(root, dir string) error {
	name := filepath.Join(root, filepath.FromSlash(dir))
	if err := unix.Access(name, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write to", Path: name, Err: err}
	}
	return nil
}
