package flux

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// mostFolders is the maximum number of folders that are compared with the folders of clusters.
const mostFolders = 10_000

// neighbours finds folders next to the folders of clusters that have all files of a cluster except the one that starts it:
// probably a cluster is missing there.
func (r *rootless) neighbours(left []*repository.Object) {
	looked, paths := 0, r.repo.Paths()
	for _, c := range r.clusters {
		at := c.Root.Path
		if at == "." || !repository.Within(at, c.Root.File) {
			continue
		}
		files := aroundRoot(paths, c.Root)
		parts := strings.Split(at, "/")
		for i, own := range parts {
			names, _ := r.repo.ReadDir(cleanJoin(parts[:i]))
			for _, name := range names {
				if looked++; looked > mostFolders {
					return
				}
				dir := cleanJoin(slices.Concat(parts[:i], []string{name}, parts[i+1:]))
				if _, exists := r.repo.ReadDir(dir); name != own && exists && !r.reported[dir] && !r.startsAt(dir) && r.hasAll(files, c.Root.Path, dir) {
					r.startless(c, dir, left)
				}
			}
		}
	}
}

func cleanJoin(parts []string) string { return path.Clean(path.Join(parts...)) }

// startless reports a folder with all files of a cluster except the one that starts it.
func (r *rootless) startless(c *reconcile.Cluster, dir string, left []*repository.Object) {
	lost := slices.DeleteFunc(slices.Clone(left), func(o *repository.Object) bool { return !repository.Within(dir, o.File()) })
	if len(lost) == 0 {
		return
	}
	r.reported[dir] = true
	start := path.Join(dir, strings.TrimPrefix(c.Root.File, c.Root.Path+"/"))
	f := finding.Finding{Place: finding.Place{File: lost[0].File()}, Object: rule.ObjectOf(lost[0]), Message: fmt.Sprintf(
		"no cluster starts from the folder %q, although it has the same files as %q, from which one starts: Flux does not apply the %s in it",
		dir, c.Root.Path, finding.Count(len(lost), "Kustomization"))}
	f.Line, f.Column = lost[0].Position()
	if f.Hint = fmt.Sprintf("restore %s, which is missing, or remove the folder", start); r.repo.Exists(start) {
		f.File, f.Line, f.Column, f.Object = start, 1, 1, finding.Object{}
		f.Hint = fmt.Sprintf("compare it with %s, and list it in a kustomization.yaml as that is", c.Root.File)
	}
	r.p.Report(f)
}

// hasAll reports whether a folder has the same files as another one.
func (r *rootless) hasAll(files []string, of, dir string) bool {
	return len(files) > 0 && !slices.ContainsFunc(files, func(file string) bool {
		return !r.repo.Exists(path.Join(dir, strings.TrimPrefix(file, of+"/")))
	})
}

// aroundRoot returns the files next to the one that starts a cluster, in a folder such as flux-system. If there
// are none, it returns all other files of the cluster's folder.
func aroundRoot(paths []string, root roots.Root) []string {
	for _, dir := range []string{path.Dir(root.File), root.Path} {
		from, _ := slices.BinarySearch(paths, dir+"/")
		var all []string
		for _, file := range paths[from:] {
			if !repository.Within(dir, file) {
				break
			}
			if file != root.File {
				all = append(all, file)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}
