package render

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
)

// startFiles are the generated files that a new repository needs from its first commit on, to encrypt secrets and check
// commits.
var startFiles = []string{".pre-commit-config.yaml", encryption.File}

// Started is a file that Start wrote or found.
type Started struct {
	Path string
	// Kept reports whether the file already existed and was not changed.
	Kept bool
}

// Start writes a starter specification into a folder, with .sops.yaml and .pre-commit-config.yaml as render
// writes them. It creates the folder if necessary, and a Git repository if the folder is in none. The
// repository's URL and branch come from git, if available. It overwrites nothing: if a specification exists, it
// adds no other one. The result is sorted by path. An inventory records the generated files, so that the next
// render updates them.
func Start(dir string) ([]Started, error) {
	files, generated, err := starter(dir)
	if err != nil {
		return nil, err
	}
	defer bounds.Writing()()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("creating folder %q: %w", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []Started
	created, err := gitrepo.Create(dir)
	if err != nil {
		return nil, fmt.Errorf("initializing a git repository in %q: %w", dir, err)
	}
	if created {
		out = append(out, Started{Path: ".git"})
	}
	inventory := &tree.Inventory{Target: generators.PlatformTarget, Release: version.Current().Release()}
	for _, f := range files {
		wrote, err := writeNew(root, f)
		if err != nil {
			return out, fmt.Errorf("writing %q: %w", filepath.Join(dir, f.Path), err)
		}
		out = append(out, Started{Path: f.Path, Kept: !wrote})
		if ours, ok := generated.Get(f.Path); ok && wrote {
			inventory.Files = append(inventory.Files, tree.Entry{Path: f.Path, Mode: ours.Mode, Digest: tree.Digest(f.Content)})
		}
	}
	if len(inventory.Files) > 0 {
		wrote, err := writeNew(root, specs.File{Path: tree.InventoryPath, Content: inventory.Encode()})
		if err != nil {
			return out, fmt.Errorf("writing %q: %w", filepath.Join(dir, tree.InventoryPath), err)
		}
		out = append(out, Started{Path: tree.InventoryPath, Kept: !wrote})
		sorting.Func(out, func(a, b Started) int { return cmp.Compare(a.Path, b.Path) })
	}
	return out, nil
}

// starter returns the files to write, and the tree of the generated ones among them. If a specification already
// exists, the generated files are rendered from it.
func starter(dir string) ([]specs.File, *tree.Tree, error) {
	read, err := ReadSpecification(dir)
	var missing *advice.Error
	switch {
	case err == nil:
	case errors.As(err, &missing) && !hasSpecification(dir):
		o := specs.StarterOptions{}
		o.RepositoryURL, _ = gitrepo.RemoteURL(dir)
		o.Branch, _ = gitrepo.CurrentBranch(dir)
		files, err := specs.Starter(o)
		if err != nil {
			return nil, nil, err
		}
		spec, err := specs.Load(files)
		if err != nil {
			return nil, nil, fmt.Errorf("the starter specification: %w", err)
		}
		read = &Specification{Root: dir, Files: files, Spec: spec}
	default:
		return nil, nil, err
	}
	files := slices.Clone(read.Files)
	// Flux's manifests are not needed for the files that are written here.
	target, err := generators.Platform(read.Spec, generators.Options{FluxComponents: []byte{}})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range startFiles {
		if f, ok := target.Tree.Get(name); ok {
			files = append(files, specs.File{Path: name, Content: f.Content})
		}
	}
	sorting.Func(files, func(a, b specs.File) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	return files, target.Tree, nil
}

// hasSpecification reports whether a folder has YAML files in fleet/.
func hasSpecification(dir string) bool {
	files, err := readFolder(dir, SpecFolder)
	return err == nil && len(files) > 0
}

// writeNew writes a file unless its path exists. It returns whether it did.
func writeNew(root *os.Root, f specs.File) (bool, error) {
	if d := path.Dir(f.Path); d != "." {
		if err := root.MkdirAll(d, 0o777); err != nil {
			return false, err
		}
	}
	// Write the complete file under another name first. Otherwise, an interrupted write could leave a partial file, which a
	// later run would treat as the user's.
	draft := f.Path + ".new-" + tree.Digest(f.Content)[7:19]
	_ = root.Remove(draft) // an interrupted write leaves the file
	err := replace.New(root, draft, f.Path, 0o666, func(file *os.File) error {
		_, err := file.Write(f.Content)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
