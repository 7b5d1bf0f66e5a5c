package gitrepo

import (
	"os"
	"path/filepath"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// Create creates a repository with the branch main in a folder, unless the folder already belongs to a repository. It
// reports whether it created one. It creates the repository completely or not at all.
func Create(dir string) (bool, error) {
	if _, found := Root(dir); found {
		return false, nil
	}
	defer bounds.Writing()()
	tmp, err := os.MkdirTemp(dir, ".fleetwright-init-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	created := filepath.Join(tmp, "repository")
	if _, err := gogit.PlainInitWithOptions(created, &gogit.PlainInitOptions{
		InitOptions: gogit.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
	}); err != nil {
		return false, err
	}
	return true, os.Rename(filepath.Join(created, gitFolder), filepath.Join(dir, gitFolder))
}

const gitFolder = ".git"
