package roots

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Root is what a cluster starts from.
type Root struct {
	// Path is the folder that is synced, from the repository's root; "." is all of it.
	Path string
	// Base is the folder that the source holds: "." for a repository, another one for an
	// artifact that is made of a folder. Path is below it.
	Base string
	// Object is the FluxInstance, HelmRelease or Flux Kustomization that syncs it; nil where
	// nothing in the repository does.
	Object *repository.Object
	// File, Line and Column say where that stands.
	File         string
	Line, Column int

	// Namespace and Name are those of the Flux Kustomization that syncs it, and Spec is its spec.
	Namespace, Name string
	Spec            kustomizev1.KustomizationSpec
	// Source is the source of the repository itself.
	Source Source

	// patches of a FluxInstance, as plain values.
	patches any
}

// Guessed says that nothing in the repository says to sync the folder.
func (r Root) Guessed() bool { return r.Object == nil && r.File == r.Path }

// Source names a source object.
type Source struct{ Kind, Namespace, Name string }

// Find returns what the repository's clusters start from: what a FluxInstance syncs, and
// Kustomizations that stand in the folder that they apply, as `flux bootstrap` makes them.
// Where there is neither, it is each outermost folder with Kustomizations that no other
// applies: then their FluxInstance is elsewhere.
func Find(repo *repository.Repository, remotes []string) []Root {
	roots := slices.Concat(instanceRoots(repo), syncRoots(Candidates(repo), repo))
	if len(roots) == 0 {
		roots = slices.DeleteFunc(syncRoots(unlisted(repo), repo), func(r Root) bool { return !r.isFluxSystem() })
	}
	if len(roots) == 0 {
		roots = folderRoots(repo, remotes)
	}
	for i := range roots {
		roots[i] = roots[i].within(repo)
	}
	slices.SortStableFunc(roots, func(a, b Root) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(roots, func(a, b Root) bool { return a.Path == b.Path })
}

// instanceRoots are the syncs of FluxInstances: of the objects themselves, and of the values
// of the flux-instance chart, in a HelmRelease or in a file of their own.
func instanceRoots(repo *repository.Repository) []Root {
	var roots []Root
	for o := range repo.Objects() {
		switch {
		case o.Group() == fluxapi.OperatorGroup && o.Kind == "FluxInstance":
			roots = addSync(roots, o.Document, o, o.Namespace, []any{"spec"})
		case o.Group() == fluxapi.HelmGroup && o.Kind == "HelmRelease":
			roots = addSync(roots, o.Document, o, "", []any{"spec", "values", "instance"})
		}
	}
	for _, f := range repo.Files() {
		if f.Excluded || repo.Use(f.Path) == repository.Chart {
			continue
		}
		for _, d := range f.Documents {
			if len(d.Objects) == 0 && d.Lookup("instance") != nil {
				roots = addSync(roots, d, nil, "", []any{"instance"})
			}
		}
	}
	return roots
}

// addSync adds the root that a FluxInstance's spec at a path of a document syncs.
func addSync(roots []Root, d *repository.Document, o *repository.Object, namespace string, at []any) []Root {
	node := d.Root()
	if o != nil {
		node = o.Node
	}
	text := func(field string) string {
		if n := repository.Lookup(node, append(slices.Clone(at), "sync", field)...); n != nil {
			return n.Value
		}
		return ""
	}
	if text("path") == "" {
		return roots
	}
	r := Root{Path: repository.Clean(text("path")), Object: o, File: d.File.Path, Namespace: cmp.Or(namespace, "flux-system")}
	r.Line, r.Column = repository.Position(node, append(slices.Clone(at), "sync", "path")...)
	r.Name = cmp.Or(text("name"), "flux-system")
	r.Base = "."
	r.Source = Source{cmp.Or(text("kind"), "GitRepository"), r.Namespace, r.Name}
	r.Spec.Path = text("path")
	r.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: r.Source.Kind, Name: r.Name}
	if patches := repository.Lookup(node, append(slices.Clone(at), "kustomize", "patches")...); patches != nil {
		r.patches, _ = repository.Value(d.File.Path, patches)
	}
	return append(roots, r)
}

// syncRoots are those of some Kustomizations that stand in the folder that they apply.
func syncRoots(among []*repository.Object, repo *repository.Repository) []Root {
	var roots []Root
	for _, o := range among {
		r, ok := rootOf(o)
		if !ok || !repository.Within(r.Path, o.File()) || r.Path == "." && !r.isFluxSystem() {
			continue
		}
		source := repo.Find(fluxapi.SourceGroup, r.Source.Kind, r.Source.Namespace, r.Source.Name)
		beside := func(s *repository.Object) bool { return path.Dir(s.File()) == path.Dir(o.File()) }
		if slices.ContainsFunc(source, beside) {
			roots = append(roots, r)
		}
	}
	// A tenant's sync of another repository may look the same.
	if slices.ContainsFunc(roots, Root.isFluxSystem) {
		return slices.DeleteFunc(roots, func(r Root) bool { return !r.isFluxSystem() })
	}
	if len(roots) == 0 {
		return nil
	}
	first := map[*repository.Object]bool{}
	for _, r := range topmost(repo, rootsOf(among)) {
		first[r.Object] = true
	}
	return slices.DeleteFunc(roots, func(r Root) bool { return !first[r.Object] })
}

// isFluxSystem says whether the root is named as `flux bootstrap` names it.
func (r Root) isFluxSystem() bool { return r.Namespace == "flux-system" && r.Name == "flux-system" }

// within finds the folder of the repository that an artifact is made of: the only one that
// has the root's path in it. A path that is there already is the repository's own.
func (r Root) within(repo *repository.Repository) Root {
	if _, ok := repo.ReadDir(r.Path); ok || r.Source.Kind == "GitRepository" {
		return r
	}
	bases := map[string]bool{}
	for _, file := range repo.Paths() {
		if base, _, ok := strings.Cut(file, "/"+r.Path+"/"); ok && repo.Visible(file) {
			bases[base] = true
		}
	}
	if len(bases) == 1 {
		r.Base = slices.Sorted(maps.Keys(bases))[0]
		r.Path = path.Join(r.Base, r.Path)
	}
	return r
}

// Candidates are the Kustomizations in files that Flux may apply as they stand.
func Candidates(repo *repository.Repository) []*repository.Object {
	return slices.DeleteFunc(slices.Clone(repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")), func(o *repository.Object) bool {
		use := repo.Use(o.File())
		return use != repository.Resource && use != repository.Plain
	})
}

// unlisted are the Kustomizations in files that stand beside a kustomization which doesn't list
// them: what flux bootstrap has applied syncs nevertheless.
func unlisted(repo *repository.Repository) []*repository.Object {
	return slices.DeleteFunc(slices.Clone(repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")), func(o *repository.Object) bool {
		return repo.Use(o.File()) != repository.Unlisted
	})
}

// isTemplate says whether variables stand in the root's name: it is what another
// repository's Kustomization applies with its own, as in a catalog of applications, and
// starts no cluster.
func (r Root) isTemplate() bool { return strings.Contains(r.Namespace+r.Name, "${") }

// rootOf takes a Kustomization in a file as a root.
func rootOf(o *repository.Object) (Root, bool) {
	value, err := o.Value()
	fields, isMap := value.(map[string]any)
	if err != nil || !isMap {
		return Root{}, false
	}
	spec, wrong := builds.SpecOf(fields)
	if wrong != "" || spec.SourceRef.Name == "" {
		return Root{}, false
	}
	r := Root{Path: repository.Clean(spec.Path), Base: ".", Object: o, File: o.File(), Namespace: o.Namespace, Name: o.Name, Spec: spec}
	r.Line, r.Column = o.Position("spec", "path")
	r.Source = Source{spec.SourceRef.Kind, cmp.Or(spec.SourceRef.Namespace, o.Namespace), spec.SourceRef.Name}
	return r, true
}

// rootsOf takes Kustomizations in files as roots, where they are readable.
func rootsOf(among []*repository.Object) []Root {
	var all []Root
	for _, o := range among {
		if r, ok := rootOf(o); ok {
			all = append(all, r)
		}
	}
	return all
}

// folderRoots are the outermost folders with Kustomizations that no other Kustomization
// applies.
func folderRoots(repo *repository.Repository, remotes []string) []Root {
	all := rootsOf(Candidates(repo))
	// The source of the repository itself is seldom in it; others are a tenant's, or a
	// controller's.
	defined := func(key Source) bool {
		return key.Kind != "ExternalArtifact" && len(repo.Find(fluxapi.SourceGroup, key.Kind, key.Namespace, key.Name)) > 0
	}
	found := map[bool]int{false: -1}
	for key, c := range tallyOf(repo, all) {
		if key.Kind != "ExternalArtifact" {
			found[defined(key)] = max(found[defined(key)], c.found)
		}
	}
	if found[false] >= found[true] {
		all = slices.DeleteFunc(all, func(r Root) bool { return defined(r.Source) })
	}
	folders := map[string]bool{}
	for _, r := range topmost(repo, all) {
		if r.isTemplate() {
			continue
		}
		folders[topFolder(repo, path.Dir(r.File))] = true
	}
	var roots []Root
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if !slices.ContainsFunc(above(dir), func(other string) bool { return folders[other] }) {
			roots = append(roots, Folder(repo, dir, remotes))
		}
	}
	return roots
}

// above are the folders that a file or folder is in, the innermost first.
func above(at string) []string {
	var dirs []string
	for at != "." {
		at = path.Dir(at)
		dirs = append(dirs, at)
	}
	return dirs
}

// Folder is the root that syncs a folder that nothing in the repository says to sync.
func Folder(repo *repository.Repository, dir string, remotes []string) Root {
	source := ownSource(repo, dir, remotes)
	r := Root{Path: dir, Base: ".", File: dir, Namespace: "flux-system", Name: "flux-system", Source: source}
	r.Spec.Path = dir
	r.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: source.Kind, Name: source.Name, Namespace: source.Namespace}
	return r
}

// topFolder is the outermost folder whose kustomization leads to a folder.
func topFolder(repo *repository.Repository, dir string) string {
	for parent := dir; parent != "."; {
		parent = path.Dir(parent)
		k, ok := repo.KustomizeAt(parent)
		if !ok || k.Spec == nil {
			continue
		}
		for _, ref := range k.Spec.Resources {
			if at, inside := repository.Join(parent, ref); inside && (at == dir || repository.Within(at, dir+"/")) {
				dir = parent
				break
			}
		}
	}
	return dir
}
