//go:build unix

package cache

import "io/fs"

// private reports whether only the user may read and change a file.
func private(mode fs.FileMode) bool { return mode.Perm()&0o077 == 0 }
