//go:build !linux

package tree

import (
	"errors"
	"os"
)

// exchange is not to be had here: a file is compared, and then replaced.
func (disk) exchange(string, string) error { return errors.ErrUnsupported }

// renameNew renames a file unless something is in its new place.
func (d disk) renameNew(from, to string) error { return d.linkNew(from, to) }

// beingWritten cannot be found out here.
func beingWritten(*os.File) bool { return false }
