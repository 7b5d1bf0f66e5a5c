package bootstrap

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// bootstrapCluster names the cluster that a bootstrap file belongs to:
// clusters/NAME/…, NAME/bootstrap/…, or bootstrap/NAME/… where clusters/NAME
// exists. It is "" when the path names none.
func bootstrapCluster(paths []string, file string) string {
	if name := clusterOf(file); name != "" {
		return name
	}
	parts := strings.Split(file, "/")
	for i, part := range parts[:len(parts)-1] {
		if part != "bootstrap" {
			continue
		}
		if i+1 < len(parts)-1 && slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(p, "clusters/"+parts[i+1]+"/")
		}) {
			return parts[i+1]
		}
		if i > 0 && !slices.Contains([]string{"kubernetes", "k8s", "cluster", "clusters", "infrastructure", "talos"}, parts[i-1]) {
			return parts[i-1]
		}
	}
	return ""
}

// counterpart finds the HelmRelease that takes a release over: the one whose
// file the release reads, where Flux applies it, else the one of the same name and namespace, else one
// of the same chart whose name or namespace differs; those that the release's cluster applies
// before those that another does, or none. Of several, those of the same cluster count, then those nearest in the
// folder tree, then one that agrees. It says why when the choice would be a guess. What another
// cluster has is never taken for what is hidden in the release's own.
func (g *git) counterpart(e *engine, r *release) (*comparison, *mark) {
	reads := func(h *helmRelease) bool { return r.reads[h.file] }
	cluster, hidden := g.clusterNamed(r.cluster), ""
	own := func(h *helmRelease) bool { return (r.cluster == "" || h.in(r.cluster)) && r.sameIdentity(h) }
	similar := func(h *helmRelease) bool { return g.similar(r, h) }
	// A cluster that the repository doesn't name applies it.
	elsewhere := func(h *helmRelease) bool { return reads(h) && len(g.unreachedFolders(h)) > 0 }
	for _, each := range []struct {
		among []*helmRelease
		fits  func(*helmRelease) bool
	}{
		{g.releases, reads}, {g.orphans, elsewhere}, {g.releases, own}, {g.orphans, reads}, {g.releases, r.sameIdentity},
		{g.orphans, r.sameIdentity}, {g.releases, similar}, {g.orphans, similar},
	} {
		candidates := filter(each.among, func(h *helmRelease) bool {
			if !each.fits(h) || h.orphan && putAway(h.file, r.file) {
				return false
			}
			if cluster == nil || !g.isForeign(r, cluster, h) {
				return true
			}
			why := g.hides(cluster)
			hidden = cmp.Or(hidden, why)
			return why == ""
		})
		if len(candidates) > 0 && candidates[0].orphan {
			candidates = g.adopted(candidates)
		}
		if len(candidates) > 0 {
			return g.choose(e, r, candidates)
		}
	}
	if hidden != "" && !slices.Contains(slices.Collect(maps.Values(r.reads)), false) {
		return nil, &mark{reason: hidden}
	}
	return nil, nil
}

// hides says what of a cluster is not known, "" for nothing.
func (g *git) hides(own *reconcile.Cluster) string {
	for _, c := range g.inFull() {
		if c.Root.Path != own.Root.Path {
			continue
		}
		for _, k := range c.Kustomizations {
			switch {
			case k.Failure != nil:
				return fmt.Sprintf("Kustomization %s of the cluster %s, which may apply its HelmRelease, cannot be built: %s", k, c.Name, k.Failure.Message)
			case len(k.Gaps) > 0:
				return fmt.Sprintf("not all that Kustomization %s of the cluster %s applies is known: %s", k, c.Name, k.Gaps[0].Message)
			}
		}
	}
	return ""
}

// isForeign says whether a HelmRelease is of another cluster than a release's own: that one
// applies it, or its file stands in a folder of that one's name.
func (g *git) isForeign(r *release, own *reconcile.Cluster, h *helmRelease) bool {
	if h.in(r.cluster) {
		return false
	}
	if h.applied.Kustomization != nil && !h.orphan {
		return true
	}
	folders := strings.Split(path.Dir(h.file), "/")
	return !slices.Contains(folders, r.cluster) && !slices.Contains(folders, own.Name) &&
		slices.ContainsFunc(folders, func(folder string) bool {
			other := g.clusterNamed(folder)
			return other != nil && other != own
		})
}

// clusterNamed is the cluster of a name: its own, or that of a folder that its root is in.
func (g *git) clusterNamed(name string) *reconcile.Cluster {
	if name == "" {
		return nil
	}
	var found *reconcile.Cluster
	for _, c := range g.fleet.Clusters {
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

// attics are names of folders for what is no longer in use.
var attics = []string{"archive", "archived", "archives", "attic", "deprecated", "disabled", "graveyard", "old", "trash", "unused"}

// putAway says whether a file is in a folder for what is no longer in use, and the bootstrap's
// file isn't in the same one.
func putAway(file, bootstrap string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if slices.Contains(attics, strings.ToLower(strings.TrimLeft(path.Base(dir), "._"))) && !strings.HasPrefix(bootstrap, dir+"/") {
			return true
		}
	}
	return false
}

func filter[T any](all []T, keep func(T) bool) []T {
	var out []T
	for _, h := range all {
		if keep(h) {
			out = append(out, h)
		}
	}
	return out
}

func (r *release) sameIdentity(h *helmRelease) bool {
	return r.name.value == h.name && r.name.value != "" &&
		(r.namespace.value == h.namespace || h.namespace == "" || r.namespace.value == "" || strings.Contains(h.namespace, "${"))
}

// similar says whether the release is likely meant to be the HelmRelease
// although its name or namespace differs: the chart is the same.
func (g *git) similar(r *release, h *helmRelease) bool {
	name, own := chartName(r.chart.value), h.applied.Name
	if name == "" {
		return false
	}
	sameName := r.name.value == h.name || r.name.value == own
	// A chart that many applications share says nothing about the release.
	sameNamespace := r.namespace.value != "" && r.namespace.value == h.namespace && r.name.value != "" && own != "" &&
		(name == r.name.value || name == own || strings.Contains(r.name.value, own) || strings.Contains(own, r.name.value))
	return (r.crdsOnly || sameName || sameNamespace) && g.chartText(h) == name
}

func (g *git) choose(e *engine, r *release, candidates []*helmRelease) (*comparison, *mark) {
	candidates = narrow(r, candidates)
	all := make([]*comparison, 0, len(candidates))
	for _, h := range candidates {
		all = append(all, g.compare(e, r, h))
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
		if a.document() != b.document() || a.document() == nil || a.applied.Identity != b.applied.Identity {
			return nil, &mark{reason: fmt.Sprintf("several HelmReleases could take it over: %s:%d and %s:%d", a.file, a.line, b.file, b.line)}
		}
		if common := onAll(all); len(common.differences) > 0 {
			return common, nil
		}
		return nil, &mark{reason: fmt.Sprintf("%s:%d differs between the clusters %s and %s, and which of them the bootstrap is for is not known",
			a.file, a.line, a.clusterName(), b.clusterName())}
	}
	return all[0], nil
}

// clusterName is the cluster that the HelmRelease is applied to, as messages name it.
func (h *helmRelease) clusterName() string {
	if k := h.applied.Kustomization; k != nil {
		return k.Cluster.Name
	}
	return "that none of the repository's is"
}

// onAll is what differs wherever one HelmRelease is applied: whichever cluster the bootstrap is
// for, that is drift.
func onAll(all []*comparison) *comparison {
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
func narrow(r *release, candidates []*helmRelease) []*helmRelease {
	keep := func(best func(*helmRelease) int) {
		top := 0
		for _, h := range candidates {
			top = max(top, best(h))
		}
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(h *helmRelease) bool { return best(h) < top })
	}
	keep(func(h *helmRelease) int {
		if r.cluster != "" && h.in(r.cluster) {
			return 1
		}
		return 0
	})
	keep(func(h *helmRelease) int {
		if h.applied.Name == r.name.value || h.name == r.name.value {
			return 1
		}
		return 0
	})
	keep(func(h *helmRelease) int { return sharedFolders(r.file, h.file) })
	return candidates
}

func sharedFolders(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x)-1 && n < len(y)-1 && x[n] == y[n] {
		n++
	}
	return n
}

func sameDifferences(a, b []Difference) bool {
	return slices.EqualFunc(a, b, func(x, y Difference) bool {
		return x.Rule == y.Rule && x.Field == y.Field && fmt.Sprint(x.Git.Value) == fmt.Sprint(y.Git.Value)
	})
}
