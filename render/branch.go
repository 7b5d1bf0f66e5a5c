package render

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// branchReader reads the files of a branch's head.
type branchReader struct {
	branch *gitrepo.Branch
	// own holds files of the work tree, which replace or complete the files of the branch.
	own tree.Memory
}

var _ tree.Reader = (*branchReader)(nil)

// ReadFile implements tree.Reader.
func (r *branchReader) ReadFile(p string) ([]byte, error) {
	if content, ok := r.own[p]; ok {
		return content, nil
	}
	return r.branch.ReadFile(p)
}

// under returns the YAML files of the branch below a folder.
func (r *branchReader) under(dir string) ([]string, error) {
	files, _, err := r.branch.List()
	return slices.DeleteFunc(files, func(f string) bool {
		return !strings.HasPrefix(f, dir+"/") || !hasYAMLName(f)
	}), err
}

// adoptWorkTree reads the user's files (modes once and adopted) from the branch's work tree if the branch does not have
// them, so that a commit adds them instead of starters. It also reads carried files that differ from the branch, because
// they are created in the work tree. It returns all these files by path, and the inventory with their entries added.
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
	merged := &tree.Inventory{Target: inv.Target, Release: inv.Release, Files: slices.Clone(inv.Files), Tenants: inv.Tenants, Guards: inv.Guards}
	for f := range t.All() {
		committed, err := r.ReadFile(f.Path)
		if f.Mode == tree.Managed || f.Mode != tree.Carried && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		content, err := folder.ReadFile(f.Path)
		if err != nil || f.Mode != tree.Carried && string(content) == string(f.Content) || f.Mode == tree.Carried && string(content) == string(committed) {
			continue // the commit's check of the work tree reports files that cannot be read
		}
		r.own[f.Path] = content
		entry, known := there.Entry(f.Path)
		if _, twice := inv.Entry(f.Path); known && !twice {
			merged.Files = append(merged.Files, entry)
		}
	}
	sorting.Func(merged.Files, func(a, b tree.Entry) int { return strings.Compare(a.Path, b.Path) })
	return r.own, merged, nil
}
