//go:build !linux

package tree

import (
	"errors"
	"os"
)

// exchange is not supported here: a file is compared, and then replaced.
func (disk) exchange(string, string) error { return errors.ErrUnsupported }

// renameNew renames a file unless the new path exists.
func (d disk) renameNew(from, to string) error { return d.linkNew(from, to) }

// beingWritten returns false, because this system cannot report it.
func beingWritten(*os.File) bool { return false }
