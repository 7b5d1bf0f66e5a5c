//go:build !unix

package gitrepo

// ownedByUser takes every file for the user's: who owns a file is not asked here.
func ownedByUser(string, func(string) string) bool { return true }
