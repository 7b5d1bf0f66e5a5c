package gitrepo

import "path/filepath"

// Folders returns the files and folders in which git keeps what it knows of the work tree that a folder is
// in, or of a bare repository: .git, and for a linked work tree the places that it leads to. It returns none
// where there is no repository.
func Folders(dir string) []string {
	root, ok := Root(dir)
	if !ok {
		return nil
	}
	all := []string{filepath.Join(root, ".git")}
	if l, err := findLayout(root); err == nil { // reading it reports why not
		all = append(all, l.git, l.common)
	}
	return all
}
