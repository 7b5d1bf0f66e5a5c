//go:build !unix

package tree

// checkWritable does nothing, because on this system only a write shows whether a folder is writable.
func checkWritable(string, string) error { return nil }
