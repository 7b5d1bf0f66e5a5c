package render

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// branchReader reads the files of a branch's head.
type branchReader struct {
	branch *gitrepo.Branch
	// own are files of the work tree that stand for those that the branch lacks.
	own tree.Memory
}

var _ tree.Reader = (*branchReader)(nil)

// ReadFile reads a file as tree.Reader says.
func (r *branchReader) ReadFile(p string) ([]byte, error) {
	if content, ok := r.own[p]; ok {
		return content, nil
	}
	return r.branch.ReadFile(p)
}

// under lists the files of the branch below a folder whose names are YAML's.
func (r *branchReader) under(dir string) ([]string, error) {
	files, _, err := r.branch.List()
	return slices.DeleteFunc(files, func(f string) bool {
		return !strings.HasPrefix(f, dir+"/") || !hasYAMLName(f)
	}), err
}

// adoptWorkTree lets the user's own files (modes once and adopted) of a
// checked-out work tree stand for those that the branch lacks, so that a commit
// takes them as they are instead of writing starters over them. Carried files
// stand for those that the branch has too: they were made in the work tree. It
// returns all of them by path, and the inventory with what the work tree's says
// of them.
func (r *branchReader) adoptWorkTree(dir string, t *tree.Tree, inv *tree.Inventory) (map[string][]byte, *tree.Inventory, error) {
	folder, err := tree.OpenFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer folder.Close()
	there, err := readInventory(inFolder(dir), folder)
	if err != nil {
		return nil, nil, err
	}
	merged := &tree.Inventory{Target: inv.Target, Release: inv.Release, Files: slices.Clone(inv.Files), Tenants: inv.Tenants}
	for f := range t.All() {
		committed, err := r.ReadFile(f.Path)
		if f.Mode == tree.Managed || f.Mode != tree.Carried && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		content, err := folder.ReadFile(f.Path)
		if err != nil || f.Mode != tree.Carried && string(content) == string(f.Content) || f.Mode == tree.Carried && string(content) == string(committed) {
			continue // what can't be read, the commit's own check of the work tree refuses
		}
		r.own[f.Path] = content
		entry, known := there.Entry(f.Path)
		if _, twice := inv.Entry(f.Path); known && !twice {
			merged.Files = append(merged.Files, entry)
		}
	}
	slices.SortFunc(merged.Files, func(a, b tree.Entry) int { return strings.Compare(a.Path, b.Path) })
	return r.own, merged, nil
}
