package helmrelease

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Adopted returns HelmReleases that no cluster applies, as their Kustomizations would apply them if a cluster reached these,
// or as the outermost kustomization that includes their files builds them. A HelmRelease that neither includes is returned
// as it is in its file.
func (g *Index) Adopted(orphans []*Release) []*Release {
	var all []*Release
	for _, h := range orphans {
		before := len(all)
		if h.set != nil { // as in its ResourceSet's file
			all = append(all, h)
			continue
		}
		for _, folder := range g.foldersOf(h) {
			all = append(all, g.appliedBy(folder, h)...)
		}
		if len(all) == before {
			all = append(all, h)
		}
	}
	return all
}

// Unapplied reports whether certainly no cluster applies a HelmRelease: all objects of the
// repository's clusters are known, the named cluster, if any, is one of them, and no Kustomization
// that another cluster may apply includes it.
func (g *Index) Unapplied(cluster string, h *Release) bool {
	if !h.Orphan || len(g.Fleet.Clusters) == 0 || len(g.UnreachedFolders(h)) > 0 {
		return false
	}
	for _, c := range g.Fleet.Clusters {
		if !c.Complete() {
			return false
		}
	}
	return cluster == "" || slices.ContainsFunc(g.Fleet.Clusters, func(c *reconcile.Cluster) bool { return c.Is(cluster) })
}

// UnreachedFolders returns the folders of the Kustomizations that no cluster reaches, and that apply the
// folder with the file of a HelmRelease. Of Kustomizations that apply each other it returns the outermost, which patch the
// others and substitute variables in them.
func (g *Index) UnreachedFolders(h *Release) []string {
	var folders []string
	seen := map[*repository.Object]bool{}
	for open := g.unreachedOver(h.File); len(open) > 0; {
		o := open[0]
		open = open[1:]
		if seen[o] {
			continue
		}
		seen[o] = true
		above := slices.DeleteFunc(g.unreachedOver(o.File()), func(other *repository.Object) bool { return other.File() == o.File() })
		open = append(open, above...)
		if len(above) == 0 && !slices.Contains(folders, path.Dir(o.File())) {
			folders = append(folders, path.Dir(o.File()))
		}
	}
	if len(folders) == 0 { // the Kustomizations apply each other in a cycle
		for o := range seen {
			folders = append(folders, path.Dir(o.File()))
		}
		slices.Sort(folders)
		folders = slices.Compact(folders)
	}
	return folders
}

// unreachedOver returns the Kustomizations that no cluster reaches, and that apply the folder with a
// file.
func (g *Index) unreachedOver(file string) []*repository.Object {
	return slices.DeleteFunc(slices.Clone(g.Fleet.Unreached), func(o *repository.Object) bool {
		at, _ := o.Text("spec", "path")
		dir := repository.Clean(at)
		if k, ok := g.Repo.KustomizeAt(dir); ok && k.Spec != nil && len(k.Spec.Resources) == 0 {
			return true // it applies only components
		}
		return !strings.HasPrefix(file, dir+"/")
	})
}

// foldersOf returns the folders whose builds include the file of a HelmRelease.
func (g *Index) foldersOf(h *Release) []string {
	if folders := g.UnreachedFolders(h); len(folders) > 0 {
		return folders
	}
	if top, ok := g.topFolder(h.File); ok {
		return []string{top}
	}
	return nil
}

// topFolder returns the outermost folder whose kustomization includes a file.
func (g *Index) topFolder(file string) (string, bool) {
	at := file
	for n := 0; ; n++ {
		if n == limits.EnclosingFolders {
			bounds.Refuse(bounds.Unit{Kind: "comparison", File: file}, fmt.Sprintf("more than %d kustomizations around it list each other", limits.EnclosingFolders))
			break
		}
		i := slices.IndexFunc(g.Repo.Kustomizes(), func(k *repository.Kustomize) bool {
			return k.Spec != nil && !k.Component && k.Dir != at && slices.ContainsFunc(k.Spec.Resources, func(ref string) bool {
				p, ok := repository.Join(k.Dir, ref)
				return ok && p == at
			})
		})
		if i < 0 {
			break
		}
		at = g.Repo.Kustomizes()[i].Dir
	}
	return at, at != file
}

// appliedBy returns the HelmReleases that the build of a folder contains for the HelmRelease in a file.
func (g *Index) appliedBy(folder string, h *Release) []*Release {
	built, done := g.folders[folder]
	if !done && len(g.folders) >= limits.UnappliedFolders {
		bounds.Refuse(bounds.Unit{Kind: "build", Name: "folders that no cluster applies"}, fmt.Sprintf("there are more than %d with HelmReleases of the bootstrap, %s among them", limits.UnappliedFolders, folder))
	}
	if !done && len(g.folders) < limits.UnappliedFolders {
		if fleet, err := reconcile.Reconcile(g.ctx, g.Repo, g.options(folder)); err == nil {
			built = helmReleasesOf(fleet)
			for _, h := range built {
				h.Orphan = true
			}
		}
		g.folders[folder] = built
	}
	return slices.DeleteFunc(slices.Clone(built), func(other *Release) bool { return other.Applied.Source != h.Applied.Source })
}

// options returns the options to build a folder without rendering charts.
func (*Index) options(folder string) reconcile.Options {
	return reconcile.Options{Roots: []string{folder}, WithoutCharts: true}
}
