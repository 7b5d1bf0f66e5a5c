package fluxinstall

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Install is a definition of Flux that a bootstrap installs.
type Install struct {
	Definition
	// Written is set if the definition is an object that is applied unchanged: if no
	// cluster applies it as well, Git contains it once.
	Written bool
	// Clusters are the clusters that the definition may be for, and Cluster the one in its path.
	Clusters []*reconcile.Cluster
	Cluster  string
}

// MayInstall reports whether an object or kustomization of a repository may install Flux outside of its clusters' builds.
func MayInstall(repo *repository.Repository) bool {
	for _, k := range repo.Kustomizes() {
		if _, ok := InKustomization(k); ok {
			return true
		}
	}
	if len(repo.ByKind(fluxapi.OperatorGroup, "FluxInstance")) > 0 {
		return true
	}
	for _, o := range repo.ByKind("apps", "Deployment") {
		if part, _ := o.Text("metadata", "labels", "app.kubernetes.io/part-of"); part == "flux" {
			return true
		}
	}
	seen := map[[2]string]bool{}
	for _, o := range repo.ByKind(fluxapi.KustomizeGroup, "Kustomization") {
		at, _ := o.Text("spec", "path")
		id := [2]string{o.Namespace + "/" + o.Name, repository.Clean(at)}
		if seen[id] {
			return true
		}
		seen[id] = o.Namespace != ""
	}
	return false
}

// Unapplied returns the definitions of HelmReleases of the flux-instance chart that no cluster certainly applies, such as
// those in a Kustomization that fails.
func (f *Finder) Unapplied(install Install) []Definition {
	var all []Definition
	own := slices.DeleteFunc(slices.Clone(f.Orphans), func(h *helmrelease.Release) bool {
		return f.ChartText(h) != InstanceChart || install.Cluster != "" && repository.ClusterOf(h.File) != "" && !h.In(install.Cluster)
	})
	for _, h := range f.Adopted(own) {
		all = append(all, f.instanceRelease(h))
	}
	return all
}

// Installs returns the files and objects that install Flux and that no cluster applies. charts are
// the releases of the flux-instance chart that no HelmRelease takes over.
func (f *Finder) Installs(charts []Definition) []Install {
	var all []Install
	add := func(d Definition, clusters []*reconcile.Cluster) {
		if d.File != "" && repository.Attic(d.File) == "" && !f.appliedAnywhere(d.File) && len(clusters) > 0 {
			all = append(all, Install{d, d.Sync != nil || d.Spec != nil && !d.FromChart, clusters,
				repository.BootstrapCluster(f.Repo.Paths(), d.File)})
		}
	}
	for _, k := range f.Repo.Kustomizes() {
		if d, ok := InKustomization(k); ok {
			add(d, f.clustersFor(d.File))
		}
	}
	var rest []*reconcile.Object
	for _, o := range f.Plain {
		if o.Group != fluxapi.OperatorGroup || o.Kind != "FluxInstance" {
			rest = append(rest, o)
			continue
		}
		d := FromInstance(located.At(o.File, o.Line), o.String(), f.Object(o).At("spec"), false, nil)
		add(d, f.syncedBy(d)) // if it syncs none of the clusters, it is an example or for another repository
	}
	for _, d := range f.ofBootstraps(controllersOf(rest)) {
		add(d, f.clustersFor(d.File))
	}
	written := kustomizationsByPath(rest)
	for _, c := range f.Fleet.Clusters {
		for _, d := range f.writtenSyncs(c, written[c.Root.Path]) {
			if repository.IsSetAside(d.File) {
				continue // a template
			}
			add(d, []*reconcile.Cluster{c})
		}
	}
	for _, d := range charts {
		clusters := f.syncedBy(d)
		if len(clusters) == 0 {
			clusters = f.clustersFor(d.File)
		}
		add(d, clusters)
	}
	return all
}

// ofBootstraps returns the definitions that a bootstrap probably applies: a folder in the path of the file is called flux-system
// or has "bootstrap" in its name, or a script names the file or its folder. Other files may be unused, or prepared for the next
// version of Flux.
func (f *Finder) ofBootstraps(all []Definition) []Definition {
	named := map[string]bool{}
	for _, d := range all {
		named[d.File], named[path.Dir(d.File)] = true, true
	}
	named = otherfiles.Paths(f.Repo, named)
	return slices.DeleteFunc(all, func(d Definition) bool {
		return !named[d.File] && !named[path.Dir(d.File)] && !slices.ContainsFunc(strings.Split(path.Dir(d.File), "/"), func(folder string) bool {
			return folder == "flux-system" || strings.Contains(folder, "bootstrap")
		})
	})
}

// kustomizationsByPath returns the Flux Kustomizations among objects, by the folder that they apply.
func kustomizationsByPath(objects []*reconcile.Object) map[string][]*reconcile.Object {
	all := map[string][]*reconcile.Object{}
	for _, o := range objects {
		if o.Group == fluxapi.KustomizeGroup && o.Kind == "Kustomization" {
			folder := repository.Clean(helmrelease.TextOf(o.Value, "spec", "path"))
			all[folder] = append(all[folder], o)
		}
	}
	return all
}

// writtenSyncs returns the definitions in files that start a cluster: a Kustomization with
// the name of the cluster's own one, and its source in the same folder. It ignores files that a
// kustomization lists, which are part of another cluster's folder or of a copy of this one's, and examples and
// templates.
func (f *Finder) writtenSyncs(c *reconcile.Cluster, written []*reconcile.Object) []Definition {
	root := c.Kustomizations[0]
	var all []Definition
	for _, o := range written {
		if o.Namespace != root.Namespace || o.Name != root.Name || f.Repo.Use(o.File) == repository.Resource ||
			repository.IsExample(o.File) || f.appliedAnywhere(o.File) {
			continue
		}
		all = append(all, f.syncPair(o, func(id reconcile.Identity) []*reconcile.Object {
			return slices.DeleteFunc(f.Written(id.Group, id.Kind, id.Name), func(s *reconcile.Object) bool {
				return s.Namespace != id.Namespace || path.Dir(s.File) != path.Dir(o.File)
			})
		})...)
	}
	return all
}

// appliedAnywhere reports whether appliedOn is true for any cluster.
func (f *Finder) appliedAnywhere(file string) bool {
	if f.filesRead == nil {
		f.filesRead, f.partly = map[string]bool{}, map[string]bool{}
		for _, c := range f.Fleet.Clusters {
			for _, k := range c.Kustomizations {
				f.noteApplied(k)
			}
		}
	}
	if f.filesRead[file] || f.partly["."] {
		return true
	}
	for dir := path.Dir(file); len(dir) > 1; dir = path.Dir(dir) {
		if f.partly[dir] {
			return true
		}
	}
	return false
}

func (f *Finder) noteApplied(k *reconcile.Kustomization) {
	if k.Repo != f.Repo {
		return
	}
	for _, file := range k.Files {
		f.filesRead[file] = true
	}
	if !k.Complete() {
		f.partly[k.Dir] = true
	}
}

// clustersFor returns the clusters that a bootstrap file may be for: the one in its path,
// else those whose folders are nearest to it.
func (f *Finder) clustersFor(file string) []*reconcile.Cluster {
	if name := repository.BootstrapCluster(f.Repo.Paths(), file); name != "" {
		own := slices.DeleteFunc(slices.Clone(f.Fleet.Clusters), func(c *reconcile.Cluster) bool {
			return !c.Is(name) && !slices.Contains(strings.Split(c.Root.Path, "/"), name)
		})
		if len(own) > 0 {
			return own
		}
	}
	most := 0
	shared := func(c *reconcile.Cluster) int { return repository.SharedFolders(file, c.Root.Path+"/file") }
	for _, c := range f.Fleet.Clusters {
		most = max(most, shared(c))
	}
	return slices.DeleteFunc(slices.Clone(f.Fleet.Clusters), func(c *reconcile.Cluster) bool { return shared(c) < most })
}

// syncedBy returns the clusters that start from the folder that a FluxInstance syncs.
func (f *Finder) syncedBy(d Definition) []*reconcile.Cluster {
	at := located.TextAt(d.Spec, "sync", "path").Value
	return slices.DeleteFunc(slices.Clone(f.Fleet.Clusters), func(c *reconcile.Cluster) bool {
		return at == "" || c.Root.Path != repository.Clean(at)
	})
}
