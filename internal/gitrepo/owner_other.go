//go:build !unix

package gitrepo

// ownedByUser returns true: the owner of a file is not checked on this operating system.
func ownedByUser(string, func(string) string) bool { return true }
