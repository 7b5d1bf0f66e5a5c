//go:build !unix

package cache

import "io/fs"

// private says whether the user alone may read and change a file: its folder decides that here.
func private(fs.FileMode) bool { return true }
