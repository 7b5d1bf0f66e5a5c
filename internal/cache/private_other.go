//go:build !unix

package cache

import "io/fs"

// private returns true: on this system, the permissions of the folder decide who may read and change a file.
func private(fs.FileMode) bool { return true }
