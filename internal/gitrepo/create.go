package gitrepo

import (
	"os"
	"path/filepath"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// Create makes a folder the work tree of a new repository, on the branch main,
// unless it belongs to a repository already. It reports whether it made one,
// which appears whole.
func Create(dir string) (bool, error) {
	if _, found := Root(dir); found {
		return false, nil
	}
	tmp, err := os.MkdirTemp(dir, ".fleetwright-init-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	made := filepath.Join(tmp, "repository")
	if _, err := gogit.PlainInitWithOptions(made, &gogit.PlainInitOptions{
		InitOptions: gogit.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
	}); err != nil {
		return false, err
	}
	return true, os.Rename(filepath.Join(made, gitFolder), filepath.Join(dir, gitFolder))
}

const gitFolder = ".git"
