package gitrepo

import "path/filepath"

// Folders returns the files and folders in which git keeps the repository of a folder's work tree,
// or of a bare repository: .git, and for a linked work tree the folders that it points to. It returns none
// if there is no repository.
func Folders(dir string) []string {
	root, ok := Root(dir)
	if !ok {
		return nil
	}
	all := []string{filepath.Join(root, ".git")}
	if l, err := findLayout(root); err == nil { // an error is reported when the repository is read
		all = append(all, l.git, l.common)
	}
	return all
}
