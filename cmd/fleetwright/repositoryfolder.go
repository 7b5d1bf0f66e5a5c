package main

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// folder is the repository's folder that a command uses.
type folder struct {
	dir string
	// loaded is the repository if it was loaded to find the folder, else nil.
	loaded *repository.Repository
}

// load returns the repository in the folder.
func (f folder) load() (*repository.Repository, error) {
	if f.loaded != nil {
		return f.loaded, nil
	}
	return loadRepository(f.dir)
}

// repositoryFolder returns the repository's folder that a command uses: the one that the command line names, or the
// working directory. If the command line names none, and the working directory is in a Git work tree whose Flux paths
// lead into it, it returns the root of the work tree and prints a note to standard error, unless --root is set or the
// working directory has a configuration file.
func (s streams) repositoryFolder(args, roots []string) folder {
	dir := folderArgument(args)
	top, below, ok := gitrepo.Within(dir)
	if !ok || below == "" || len(roots) > 0 || hasConfiguration(dir) {
		return folder{dir: dir}
	}
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		return folder{dir: dir} // reading the folder returns the error
	}
	file, synced := syncedFrom(repo, below)
	if file == "" {
		return folder{dir, repo}
	}
	up := upFrom(below)
	if len(args) > 0 {
		up = filepath.ToSlash(filepath.Clean(filepath.Join(dir, filepath.FromSlash(up))))
		_ = output.Printf(s.err, "note: %s is not the root of the repository: the path %q in %q points into it from %s\n  hint: name that folder\n",
			dir, synced, path.Join(filepath.ToSlash(dir), file), up)
		return folder{dir, repo}
	}
	_ = output.Printf(s.err, "note: the repository is %s (%s): the path %q in %q points from there into this folder\n", up, top, synced, file)
	return folder{dir: filepath.FromSlash(up)}
}

// syncedFrom returns a path that Flux syncs and that exists only relative to a parent of the repository's folder, and the
// file that names it. below is the path from that parent to the folder. It returns "" if no such path exists, or if
// another synced path exists in the repository itself.
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

// notePart prints a note that no file in the folder declares what Flux syncs, if the command line names no folder and the
// working directory is only a part of a Git work tree.
func (v *validation) notePart() {
	synced := v.fleet == nil || slices.ContainsFunc(v.fleet.Clusters, func(c *reconcile.Cluster) bool { return !c.Root.Guessed() })
	if !v.unnamed || synced || len(v.flags.graph.roots) > 0 || hasConfiguration(v.dir) {
		return
	}
	if _, below, ok := gitrepo.Within(v.dir); ok && below != "" {
		_ = output.Printf(v.err, "note: nothing in this folder declares what Flux syncs, and files outside of it were not checked; the root of the Git work tree is %s\n", upFrom(below))
	}
}

// upFrom returns the relative path from a folder below a root to the root.
func upFrom(below string) string { return strings.Repeat("../", strings.Count(below, "/")) + ".." }
