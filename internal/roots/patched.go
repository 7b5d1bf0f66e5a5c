package roots

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// patchedRoots returns the roots of clusters that share a Kustomization in a base, with a variable in its
// path: each cluster's overlay patches the path with a folder of its own.
func patchedRoots(repo *repository.Repository) []Root {
	bases := map[[2]string]Root{}
	for _, r := range rootsOf(Candidates(repo)) {
		if strings.Contains(r.Spec.Path, "${") && !r.isTemplate() {
			bases[[2]string{r.Namespace, r.Name}] = r
		}
	}
	var roots []Root
	for _, o := range repo.ByKind(fluxapi.KustomizeGroup, "Kustomization") {
		base, ok := bases[[2]string{o.Namespace, o.Name}]
		if !ok && o.Namespace == "" {
			base, ok = bases[[2]string{"flux-system", o.Name}]
		}
		at, _ := o.Text("spec", "path")
		dir := repository.Clean(at)
		if _, exists := repo.ReadDir(dir); !ok || repo.Use(o.File()) != repository.Patch || !exists || dir == "." {
			continue
		}
		r := base
		r.Path, r.Spec.Path, r.Object, r.File = dir, at, o, o.File()
		r.Line, r.Column = o.Position("spec", "path")
		r.Namespace = cmp.Or(o.Namespace, r.Namespace)
		roots = append(roots, r)
	}
	return roots
}

// preparedRoots returns the folders of clusters that flux bootstrap has not installed yet: to customize it, its
// documentation says to list an empty gotk-sync.yaml in flux-system/kustomization.yaml, which flux bootstrap then writes.
// A folder without a Flux Kustomization does not count.
func preparedRoots(repo *repository.Repository) []Root {
	var roots []Root
	var all []Root
	for _, f := range repo.Files() {
		dir := path.Dir(f.Path)
		at := path.Dir(dir)
		if path.Base(f.Path) != "gotk-sync.yaml" || path.Base(dir) != "flux-system" || at == "." || holdsObjects(f) || isPutAway(f.Path) || repository.IsExample(f.Path) {
			continue
		}
		k, ok := repo.KustomizeAt(dir)
		if !ok || k.Spec == nil || !slices.Contains(k.Spec.Resources, path.Base(f.Path)) {
			continue
		}
		if all == nil {
			all = rootsOf(Candidates(repo))
		}
		if !slices.ContainsFunc(all, func(r Root) bool { return repository.Within(at, r.File) }) {
			continue
		}
		r := Root{Path: at, Base: ".", Place: finding.Place{File: f.Path, Line: 1, Column: 1}, Namespace: "flux-system", Name: "flux-system",
			Source: Source{"GitRepository", "flux-system", "flux-system"}}
		r.Spec.Path = at
		r.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: r.Source.Kind, Name: r.Source.Name}
		own := slices.DeleteFunc(slices.Clone(all), func(k Root) bool { return k.Source != r.Source })
		roots = append(roots, r.below(baseOf(repo, at, own)))
	}
	return roots
}

// appliedRoots returns the roots of folders that kubectl applies once, beside the roots that were found: the kustomization of
// such a folder lists the source of this repository and a Kustomization that applies a folder below it from that source.
// No other root has the folder, and no path in a file applies the Kustomization; the builds may show that something does.
func appliedRoots(namespaces namespaces, found []Root, remotes []string) []Root {
	repo := namespaces.repo
	var roots []Root
	listed := map[string]bool{}
	for _, l := range outward(repo) {
		listed[l.to] = true
	}
	for _, r := range topmost(repo, namespaces.name(rootsOf(Candidates(repo)))) {
		dir := path.Dir(r.File)
		k, ok := repo.KustomizeAt(dir)
		if !ok || k.Spec == nil || dir == "." || listed[dir] || r.isTemplate() || isPutAway(r.File) || repository.IsExample(r.File) ||
			topFolder(repo, dir) != dir || !repository.Within(dir, r.Path) || !Has(repo, r.Path) {
			continue
		}
		isListed := func(file string) bool {
			return slices.ContainsFunc(k.Spec.Resources, func(ref string) bool {
				at, inside := repository.Join(dir, ref)
				return inside && at == file
			})
		}
		isOwn := func(s *repository.Object) bool {
			return isListed(s.File()) && (len(remotes) == 0 || isOneOf(s, remotes))
		}
		isTaken := func(other Root) bool {
			return other.Boundary != nil || repository.Within(other.Path, dir+"/") || repository.Within(dir, other.Path)
		}
		if isListed(r.File) && slices.ContainsFunc(namespaces.sources(r.Source), isOwn) &&
			!slices.ContainsFunc(found, isTaken) && !slices.ContainsFunc(roots, isTaken) {
			root := folder(namespaces, dir, remotes)
			root.Once = r.File
			roots = append(roots, root)
		}
	}
	return roots
}

// below returns the root for an artifact that is created from a folder around the synced one.
func (r Root) below(base string) Root {
	if rest, inside := strings.CutPrefix(r.Path, base+"/"); inside {
		r.Base, r.Spec.Path = base, rest
	}
	return r
}

// holdsObjects reports whether a file contains an object.
func holdsObjects(f *repository.File) bool {
	return f.Err != nil || slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return d.Root() != nil })
}

// mostOverlays is the maximum number of overlays of all bases, and of folders that are searched to find them; further
// bases are not considered.
const mostOverlays = 10_000

// overlays returns the outermost overlays of the base in dir: folders whose kustomizations include the base, directly or
// indirectly, and that no kustomization includes. If no object sets the path that a cluster syncs, the cluster probably syncs one
// of them. Without such a folder, overlays returns dir. left is the number of folders that may still be searched.
func overlays(by map[string][]string, dir string, left *int) []string {
	seen := map[string]bool{dir: true}
	tops := map[string]bool{}
	for queue := []string{dir}; len(queue) > 0 && *left > 0; queue = queue[1:] {
		*left--
		for _, from := range by[queue[0]] {
			if !seen[from] {
				seen[from] = true
				queue = append(queue, from)
			}
		}
		if len(by[queue[0]]) == 0 {
			tops[queue[0]] = true
		}
	}
	if len(tops) == 0 {
		return []string{dir}
	}
	return slices.Sorted(maps.Keys(tops))
}

// listers maps folders to those whose kustomizations list them, outside of examples and archives.
func listers(repo *repository.Repository) map[string][]string {
	by := map[string][]string{}
	for _, l := range outward(repo) {
		if !repository.IsExample(l.from) && !repository.IsArchived(l.from) {
			by[l.to] = append(by[l.to], l.from)
		}
	}
	return by
}

// inArtifact returns the Kustomizations with their paths moved below the folder from which the artifact that they sync is
// created: the innermost folder that contains all of these paths. It changes nothing if at least half of the paths exist
// at the root of the repository.
func inArtifact(repo *repository.Repository, all []Root) []Root {
	here := 0
	for _, r := range all {
		if Has(repo, r.Path) || strings.Contains(r.Path, "$") || r.Source.Kind == "ExternalArtifact" {
			here++
		}
	}
	if len(all) == 0 || here*2 >= len(all) {
		return all
	}
	for _, base := range above(all[0].File) {
		has := func(r Root) bool { return repository.Within(base, r.File) && Has(repo, path.Join(base, r.Path)) }
		if base == "." || slices.ContainsFunc(all, func(r Root) bool { return !has(r) }) {
			continue
		}
		shifted := slices.Clone(all)
		for i := range shifted {
			shifted[i].Base, shifted[i].Path = base, path.Join(base, shifted[i].Path)
		}
		return shifted
	}
	return all
}

// baseOf returns the folder from which the artifact that a cluster syncs is created, if its repository is unknown: the
// innermost folder around the cluster's folder that contains the first folders of all paths below it, if none of them is
// a folder of the repository itself. Paths of a single folder count only if there are no others.
func baseOf(repo *repository.Repository, dir string, all []Root) string {
	firsts := map[bool][]string{}
	for _, r := range all {
		if r.Base != "." {
			return r.Base
		}
		first, _, more := strings.Cut(r.Path, "/")
		if first == "." || r.Source.Kind == "ExternalArtifact" || strings.Contains(first, "$") || !repository.Within(dir, r.File) {
			continue
		}
		if Has(repo, first) {
			return "."
		}
		firsts[more] = append(firsts[more], first)
	}
	counted := firsts[len(firsts[true]) > 0]
	for _, base := range above(dir) {
		has := func(first string) bool { return Has(repo, path.Join(base, first)) }
		if base != "." && len(counted) > 0 && !slices.ContainsFunc(counted, func(first string) bool { return !has(first) }) {
			return base
		}
	}
	return "."
}
