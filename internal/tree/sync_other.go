//go:build !linux

package tree

// syncAll does nothing here: no call syncs many files at once, and single syncs take milliseconds
// each. A write stays complete if the process is killed; if the power fails within seconds after
// it, files may be empty, which the next run reports as edited.
func (disk) syncAll([]string) error { return nil }

// syncFS does nothing, like syncAll.
func (disk) syncFS() error { return nil }

// syncDirs does nothing: Windows cannot sync a folder, and without syncAll the
// order of names alone would guarantee nothing.
func (disk) syncDirs(...string) error { return nil }
