package render

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// krmIgnore is the file that lists the files of the target that kpt ignores.
const krmIgnore = ".krmignore"

// hasStarted reports whether an inventory has files of a starter, or files that replaced them.
func hasStarted(inv *tree.Inventory) bool {
	return slices.ContainsFunc(inv.Files, func(e tree.Entry) bool { return e.Mode == tree.Once })
}

// isOwn reports whether a file is the user's own content: no render wrote it, and it is not a file that a new repository
// usually has.
func isOwn(inv *tree.Inventory, file string) bool {
	_, known := inv.Entry(file)
	name := strings.ToUpper(path.Base(file))
	return !known && !strings.HasPrefix(file, path.Dir(tree.InventoryPath)+"/") &&
		!strings.HasPrefix(name, "README") && !strings.HasPrefix(name, "LICENSE") && !slices.Contains([]string{".GITIGNORE", ".GITATTRIBUTES", "CODEOWNERS"}, name)
}

// takeOver checks whether the branch of a tenant has content of its own: files that no render wrote, and
// no files of a starter. If so, the branch gets no starter, and files that would overwrite its content are left
// out.
func (j *commitJob) takeOver(inv *tree.Inventory) error {
	if j.TakenOver = false; j.Target.Name == generators.PlatformTarget || hasStarted(inv) {
		return nil
	}
	files, _, err := j.branch.List()
	if err != nil || !slices.ContainsFunc(files, func(file string) bool { return isOwn(inv, file) }) {
		return err
	}
	j.TakenOver = true
	j.Target.Tree, err = withoutStarter(j.Target.Tree, inv, j.reader, j.overwrite)
	return err
}

// takeOver does the same for the folder of a tenant's target.
func (p *Planned) takeOver(inv *tree.Inventory, current tree.Reader, overwrite []string) error {
	if p.Target.Name == generators.PlatformTarget || hasStarted(inv) {
		return nil
	}
	err := filepath.WalkDir(p.Dir, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		file, err := filepath.Rel(p.Dir, at)
		if err == nil && isOwn(inv, filepath.ToSlash(file)) {
			p.TakenOver = true
			return fs.SkipAll
		}
		return err
	})
	if err != nil || !p.TakenOver {
		return err
	}
	p.Target.Tree, err = withoutStarter(p.Target.Tree, inv, current, overwrite)
	return err
}

// withoutStarter returns the files of a tree that are written next to a tenant's own content: no starter, and
// no file that would change an existing one, unless overwrite has it.
func withoutStarter(of *tree.Tree, inv *tree.Inventory, current tree.Reader, overwrite []string) (*tree.Tree, error) {
	rest := &tree.Tree{}
	var ignore *tree.File
	named := false // whether a remaining file is named in the file for kpt
	for f := range of.All() {
		_, known := inv.Entry(f.Path)
		content, err := current.ReadFile(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		switch {
		case f.Mode == tree.Once || !known && err == nil && !bytes.Equal(content, f.Content) && !slices.Contains(overwrite, f.Path):
			continue
		case f.Path == krmIgnore:
			ignore = &f
			continue
		}
		if err := rest.Add(f); err != nil {
			return nil, err
		}
	}
	for f := range rest.All() {
		named = named || ignore != nil && bytes.Contains(ignore.Content, []byte("\n/"+f.Path+"\n"))
	}
	if named {
		return rest, rest.Add(*ignore)
	}
	return rest, nil
}

// missing returns the folders of a target that Flux applies and that neither its tree nor its destination has, as after
// starter: none. there reports whether the destination has a folder.
func missing(of tree.Target, there func(dir string) bool) []string {
	var none []string
	for _, dir := range of.Applied {
		rendered := slices.ContainsFunc(of.Tree.Paths(), func(p string) bool { return strings.HasPrefix(p, dir+"/") })
		if dir != "." && !rendered && !there(dir) {
			none = append(none, dir)
		}
	}
	return none
}
