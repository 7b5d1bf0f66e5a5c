package main

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// folder is that of the repository which a command is about.
type folder struct {
	dir string
	// loaded is the repository where finding the folder loaded it, else nil.
	loaded *repository.Repository
}

// load returns the repository in the folder.
func (f folder) load() (*repository.Repository, error) {
	if f.loaded != nil {
		return f.loaded, nil
	}
	return loadRepository(f.dir)
}

// repositoryFolder is the folder of the repository that a command is about: the one that the
// command line names, or the working directory. Where that is named by nobody, and lies in a Git
// work tree from whose root Flux's paths lead into it, it is that root; standard error tells. Roots
// and a configuration say what the folder is.
func (s streams) repositoryFolder(args, roots []string) folder {
	dir := folderArgument(args)
	top, below, ok := gitrepo.Within(dir)
	if !ok || below == "" || len(roots) > 0 || hasConfiguration(dir) {
		return folder{dir: dir}
	}
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		return folder{dir: dir} // who reads it tells why not
	}
	file, synced := syncedFrom(repo, below)
	if file == "" {
		return folder{dir, repo}
	}
	up := upFrom(below)
	if len(args) > 0 {
		up = filepath.ToSlash(filepath.Clean(filepath.Join(dir, filepath.FromSlash(up))))
		_ = output.Printf(s.err, "note: %s is not the root of the repository: the path %q in %q leads into it from %s\n  hint: name that folder\n",
			dir, synced, path.Join(filepath.ToSlash(dir), file), up)
		return folder{dir, repo}
	}
	_ = output.Printf(s.err, "note: the repository is %s (%s): the path %q in %q leads from there into this folder\n", up, top, synced, file)
	return folder{dir: filepath.FromSlash(up)}
}

// syncedFrom returns a path that Flux syncs, and the file that says so, which is a folder of a
// repository only as seen from above, where the repository is the folder below. "" is none, or
// that others are folders as they stand.
func syncedFrom(repo *repository.Repository, below string) (file, synced string) {
	for o := range repo.Objects() {
		var at string
		switch o.Group() + "/" + o.Kind {
		case "kustomize.toolkit.fluxcd.io/Kustomization":
			at, _ = o.Text("spec", "path")
		case "fluxcd.controlplane.io/FluxInstance":
			at, _ = o.Text("spec", "sync", "path")
		}
		clean := repository.Clean(at)
		if clean == "." {
			continue
		}
		if _, ok := repo.ReadDir(clean); ok {
			return "", ""
		}
		inside, ok := strings.CutPrefix(clean+"/", below+"/")
		if _, there := repo.ReadDir(path.Join(".", inside)); ok && there && file == "" {
			file, synced = o.File(), at
		}
	}
	return file, synced
}

// tellPart says of a folder that nobody named, and that is a part of a Git work tree, that
// nothing in it says what Flux syncs.
func (v *validation) tellPart() {
	if !v.unnamed || !v.unsynced || len(v.flags.graph.roots) > 0 || hasConfiguration(v.dir) {
		return
	}
	if _, below, ok := gitrepo.Within(v.dir); ok && below != "" {
		_ = output.Printf(v.err, "note: nothing in this folder says what Flux syncs, and what is outside of it is not looked at; the Git work tree begins at %s\n", upFrom(below))
	}
}

// upFrom is the way from a folder below a root to the root.
func upFrom(below string) string { return strings.Repeat("../", strings.Count(below, "/")) + ".." }
