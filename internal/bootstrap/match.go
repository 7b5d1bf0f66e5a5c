package bootstrap

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// counterpart finds the HelmRelease that takes a release over: first the one whose file the release reads, if Flux applies it,
// then the one with the same name and namespace, then one of the same chart with another name or namespace. HelmReleases that
// the release's cluster applies come before those that another cluster or none applies. Of several, it prefers the same cluster,
// then the nearest in the folder tree, then one that agrees. It returns the reason if the choice would be a guess. If
// the release's own cluster is not fully known, no other cluster's HelmRelease is chosen instead.
func (j *judge) counterpart(r *helmfile.Release) (*comparison, *located.Unknown) {
	reads := func(h *helmrelease.Release) bool { return r.Reads[h.File] }
	cluster, hidden := j.clusterNamed(r.Cluster), ""
	own := func(h *helmrelease.Release) bool { return (r.Cluster == "" || h.In(r.Cluster)) && sameIdentity(r, h) }
	same := func(h *helmrelease.Release) bool { return sameIdentity(r, h) }
	similar := func(h *helmrelease.Release) bool { return j.similar(r, h) }
	// A cluster that the repository doesn't name applies it.
	elsewhere := func(h *helmrelease.Release) bool { return reads(h) && len(j.UnreachedFolders(h)) > 0 }
	for _, each := range []struct {
		among []*helmrelease.Release
		fits  func(*helmrelease.Release) bool
	}{
		{j.Releases, reads}, {j.Orphans, elsewhere}, {j.Releases, own}, {j.Orphans, reads}, {j.Releases, same},
		{j.Orphans, same}, {j.Releases, similar}, {j.Orphans, similar},
	} {
		candidates := slices.DeleteFunc(slices.Clone(each.among), func(h *helmrelease.Release) bool {
			if !each.fits(h) || h.Orphan && disused(h.File, r.File) {
				return true
			}
			if !reads(h) && j.isOfOtherFolder(r, h) {
				hidden = cmp.Or(hidden, fmt.Sprintf("the HelmRelease at %s:%d is of another cluster, as its folder says", h.File, h.Line))
				return true
			}
			if cluster == nil || !j.isForeign(r, cluster, h) {
				return false
			}
			why := j.whyUnknown(cluster)
			hidden = cmp.Or(hidden, why)
			return why != ""
		})
		if len(candidates) > 0 && candidates[0].Orphan {
			candidates = j.Adopted(candidates)
		}
		if len(candidates) > 0 {
			return j.choose(r, candidates)
		}
	}
	if hidden != "" && !slices.Contains(slices.Collect(maps.Values(r.Reads)), false) {
		return nil, &located.Unknown{Reason: hidden}
	}
	return nil, nil
}

// whyUnknown returns the reason why a cluster is not fully known, "" if it is.
func (j *judge) whyUnknown(own *reconcile.Cluster) string {
	for _, c := range j.Fleet.Clusters {
		if c.Root.Path != own.Root.Path {
			continue
		}
		for _, k := range c.Kustomizations {
			switch {
			case k.Failure != nil:
				return fmt.Sprintf("Kustomization %s of the cluster %s, which may apply its HelmRelease, cannot be built: %s", k, c.Name, k.Failure.Message)
			case len(k.Gaps) > 0:
				return fmt.Sprintf("Kustomization %s of the cluster %s could not be fully built: %s", k, c.Name, k.Gaps[0].Message)
			}
		}
	}
	return ""
}

// isForeign reports whether a HelmRelease belongs to another cluster than the release: another cluster applies it, or its
// file is in a folder with another cluster's name.
func (j *judge) isForeign(r *helmfile.Release, own *reconcile.Cluster, h *helmrelease.Release) bool {
	if h.In(r.Cluster) {
		return false
	}
	if h.Applied.Kustomization != nil && !h.Orphan {
		return true
	}
	folders := strings.Split(path.Dir(h.File), "/")
	return !slices.Contains(folders, r.Cluster) && !slices.Contains(folders, own.Name) &&
		slices.ContainsFunc(folders, func(folder string) bool {
			other := j.clusterNamed(folder)
			return other != nil && other != own
		})
}

// sharedNames are the names of folders that are next to the folders of clusters and belong to several clusters.
var sharedNames = []string{"all", "apps", "base", "bases", "bootstrap", "common", "core", "default", "global", "infrastructure", "shared"}

// isOfOtherFolder reports whether a release and a HelmRelease are in the folders of two clusters, clusters/a and clusters/b,
// and the release's cluster does not apply the HelmRelease. A folder without objects of Flux, such as clusters/talos, is no cluster's.
func (j *judge) isOfOtherFolder(r *helmfile.Release, h *helmrelease.Release) bool {
	own, other := repository.ClusterFolder(r.File), repository.ClusterFolder(h.File)
	isShared := func(dir string) bool {
		return dir == "" || slices.Contains(sharedNames, strings.Trim(path.Base(dir), "_."))
	}
	return own != other && path.Dir(own) == path.Dir(other) && j.ClusterFolders[own] && !isShared(own) && !isShared(other) &&
		!h.In(path.Base(own)) && (!j.synced[r.File] || !h.In(r.Cluster))
}

// clusterNamed returns the cluster with the name, or the one whose root is in a folder with the name; nil if there is none,
// or several.
func (j *judge) clusterNamed(name string) *reconcile.Cluster {
	if name == "" {
		return nil
	}
	var found *reconcile.Cluster
	for _, c := range j.Fleet.Clusters {
		if c.Is(name) {
			return c
		}
		if slices.Contains(strings.Split(c.Root.Path, "/"), name) {
			if found != nil {
				return nil // it names a group of them
			}
			found = c
		}
	}
	return found
}

// disused reports whether a file is in a folder for disused files, and the bootstrap's file isn't in the same folder.
func disused(file, bootstrap string) bool {
	dir := repository.Attic(file)
	return dir != "" && !strings.HasPrefix(bootstrap, dir+"/")
}

// otherCluster returns the name of a cluster that is not in the repository, if the release's folder names one: the folder is
// beside a folder named after a cluster of the repository with the same file in it, as config/b/helmfile.yaml is beside
// config/a/helmfile.yaml. It returns "" if a folder names a cluster of the repository, or the file's FluxInstance syncs
// one's path.
func (j *judge) otherCluster(r *helmfile.Release) string {
	if j.synced[r.File] {
		return ""
	}
	for dir := path.Dir(r.File); dir != "."; dir = path.Dir(dir) {
		name, rest := path.Base(dir), strings.TrimPrefix(r.File, dir+"/")
		if slices.ContainsFunc(j.Fleet.Clusters, func(c *reconcile.Cluster) bool { return c.Is(name) }) {
			return ""
		}
		if slices.ContainsFunc(j.Fleet.Clusters, func(c *reconcile.Cluster) bool {
			return !strings.Contains(c.Name, "/") && j.Repo.Exists(path.Join(path.Dir(dir), c.Name, rest))
		}) {
			return name
		}
	}
	return ""
}

func sameIdentity(r *helmfile.Release, h *helmrelease.Release) bool {
	return r.Name.Value == h.Name && r.Name.Value != "" &&
		(r.Namespace.Value == h.Namespace || h.Namespace == "" || r.Namespace.Value == "" || strings.Contains(h.Namespace, "${"))
}

// similar reports whether the release is likely the HelmRelease's in spite of another name or namespace: the chart is
// the same.
func (j *judge) similar(r *helmfile.Release, h *helmrelease.Release) bool {
	name, own := helmrelease.ChartName(r.Chart.Value), h.Applied.Name
	if name == "" {
		return false
	}
	sameName := r.Name.Value == h.Name || r.Name.Value == own
	// A chart that many applications share says nothing about the release.
	sameNamespace := r.Namespace.Value != "" && r.Namespace.Value == h.Namespace && r.Name.Value != "" && own != "" &&
		(name == r.Name.Value || name == own || strings.Contains(r.Name.Value, own) || strings.Contains(own, r.Name.Value))
	return (r.CRDsOnly || sameName || sameNamespace) && j.ChartText(h) == name
}

func (j *judge) choose(r *helmfile.Release, candidates []*helmrelease.Release) (*comparison, *located.Unknown) {
	candidates = narrow(r, candidates)
	all := make([]*comparison, 0, len(candidates))
	for _, h := range candidates {
		all = append(all, j.compare(r, h))
	}
	for _, m := range all {
		if len(m.differences) == 0 && len(m.unknown) == 0 {
			return m, nil
		}
	}
	for _, m := range all[1:] {
		if sameDifferences(m.differences, all[0].differences) {
			continue
		}
		a, b := all[0].helmRelease, m.helmRelease
		if a.Document() != b.Document() || a.Document() == nil || a.Applied.Identity != b.Applied.Identity {
			return nil, &located.Unknown{Reason: fmt.Sprintf("several HelmReleases could take it over: %s:%d and %s:%d", a.File, a.Line, b.File, b.Line)}
		}
		if common := commonToAll(all); len(common.differences) > 0 {
			return common, nil
		}
		return nil, &located.Unknown{Reason: fmt.Sprintf("%s:%d differs between the clusters %s and %s, and it is unknown which one the bootstrap is for",
			a.File, a.Line, a.ClusterName(), b.ClusterName())}
	}
	return all[0], nil
}

// commonToAll returns the differences that the HelmRelease has in every cluster that applies it: they are drift whichever
// cluster the bootstrap is for.
func commonToAll(all []*comparison) *comparison {
	common := *all[0]
	common.differences = slices.DeleteFunc(slices.Clone(common.differences), func(d Difference) bool {
		return slices.ContainsFunc(all[1:], func(m *comparison) bool {
			return !slices.ContainsFunc(m.differences, func(other Difference) bool { return other.Rule == d.Rule && other.Field == d.Field })
		})
	})
	return &common
}

// narrow keeps the candidates of the same cluster, then those that share most of
// the path with the bootstrap file.
func narrow(r *helmfile.Release, candidates []*helmrelease.Release) []*helmrelease.Release {
	keep := func(best func(*helmrelease.Release) int) {
		top := 0
		for _, h := range candidates {
			top = max(top, best(h))
		}
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(h *helmrelease.Release) bool { return best(h) < top })
	}
	keep(func(h *helmrelease.Release) int {
		if r.Cluster != "" && h.In(r.Cluster) {
			return 1
		}
		return 0
	})
	keep(func(h *helmrelease.Release) int {
		if h.Applied.Name == r.Name.Value || h.Name == r.Name.Value {
			return 1
		}
		return 0
	})
	keep(func(h *helmrelease.Release) int { return repository.SharedFolders(r.File, h.File) })
	return candidates
}

func sameDifferences(a, b []Difference) bool {
	return slices.EqualFunc(a, b, func(x, y Difference) bool {
		return x.Rule == y.Rule && x.Field == y.Field && fmt.Sprint(x.Git.Value) == fmt.Sprint(y.Git.Value)
	})
}
