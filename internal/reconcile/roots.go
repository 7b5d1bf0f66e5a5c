package reconcile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// Root is what a cluster starts from.
type Root struct {
	// Path is the folder that is synced, from the repository's root; "." is all of it.
	Path string
	// Object is the FluxInstance, HelmRelease or Flux Kustomization that syncs it; nil where
	// nothing in the repository does.
	Object *repository.Object
	// File, Line and Column say where that stands.
	File         string
	Line, Column int

	namespace, name string
	source          sourceKey
	spec            kustomizev1.KustomizationSpec
	// patches of a FluxInstance, as plain values.
	patches any
}

// sourceKey names a source object.
type sourceKey struct{ kind, namespace, name string }

// findRoots finds what the repository's clusters start from: what a FluxInstance syncs, and
// Kustomizations that stand in the folder that they apply, as `flux bootstrap` makes them.
// Where there is neither, it is each outermost folder with Kustomizations that no other
// applies: then their FluxInstance is elsewhere.
func findRoots(repo *repository.Repository) []Root {
	roots := slices.Concat(instanceRoots(repo), syncRoots(repo))
	if len(roots) == 0 {
		roots = folderRoots(repo)
	}
	slices.SortStableFunc(roots, func(a, b Root) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(roots, func(a, b Root) bool { return a.Path == b.Path })
}

// cleanPath is a spec.path as a folder of the repository: it can't lead out of it.
func cleanPath(p string) string {
	if clean := strings.TrimPrefix(path.Clean("/"+p), "/"); clean != "" {
		return clean
	}
	return "."
}

// instanceRoots are the syncs of FluxInstances: of the objects themselves, and of the values
// of the flux-instance chart, in a HelmRelease or in a file of their own.
func instanceRoots(repo *repository.Repository) []Root {
	var roots []Root
	for o := range repo.Objects() {
		switch {
		case o.Group() == operatorGroup && o.Kind == "FluxInstance":
			roots = addSync(roots, o.Document, o, o.Namespace, []any{"spec"})
		case o.Group() == "helm.toolkit.fluxcd.io" && o.Kind == "HelmRelease":
			roots = addSync(roots, o.Document, o, "", []any{"spec", "values", "instance"})
		}
	}
	for _, f := range repo.Files() {
		if f.Excluded || repo.Use(f.Path) == repository.Chart {
			continue
		}
		for _, d := range f.Documents {
			if len(d.Objects) == 0 {
				roots = addSync(roots, d, nil, "", []any{"instance"})
			}
		}
	}
	return roots
}

// addSync adds the root that a FluxInstance's spec at a path of a document syncs.
func addSync(roots []Root, d *repository.Document, o *repository.Object, namespace string, at []any) []Root {
	node := d.Node
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
	r := Root{Path: cleanPath(text("path")), Object: o, File: d.File.Path, namespace: cmp.Or(namespace, "flux-system")}
	r.Line, r.Column = repository.Position(node, append(slices.Clone(at), "sync", "path")...)
	r.name = cmp.Or(text("name"), "flux-system")
	r.source = sourceKey{cmp.Or(text("kind"), "GitRepository"), r.namespace, r.name}
	r.spec.Path = text("path")
	r.spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: r.source.kind, Name: r.name}
	if patches := repository.Lookup(node, append(slices.Clone(at), "kustomize", "patches")...); patches != nil {
		r.patches, _ = repository.Value(d.File.Path, patches)
	}
	return append(roots, r)
}

// syncRoots are the Kustomizations that stand in the folder that they apply.
func syncRoots(repo *repository.Repository) []Root {
	var roots []Root
	for _, o := range candidates(repo) {
		r, ok := rootOf(o)
		if !ok || !contains(r.Path, o.File()) {
			continue
		}
		source := repo.Find(sourceGroup, r.source.kind, r.source.namespace, r.source.name)
		beside := func(s *repository.Object) bool { return path.Dir(s.File()) == path.Dir(o.File()) }
		if slices.ContainsFunc(source, beside) {
			roots = append(roots, r)
		}
	}
	// A tenant's sync of another repository may look the same.
	named := func(r Root) bool { return r.namespace == "flux-system" && r.name == "flux-system" }
	if slices.ContainsFunc(roots, named) {
		roots = slices.DeleteFunc(roots, func(r Root) bool { return !named(r) })
	}
	return roots
}

// candidates are the Kustomizations in files that Flux may apply as they stand.
func candidates(repo *repository.Repository) []*repository.Object {
	return slices.DeleteFunc(slices.Clone(repo.ByKind(kustomizeGroup, kindKs)), func(o *repository.Object) bool {
		use := repo.Use(o.File())
		return use != repository.Resource && use != repository.Plain
	})
}

// rootOf takes a Kustomization in a file as a root.
func rootOf(o *repository.Object) (Root, bool) {
	value, err := o.Value()
	fields, isMap := value.(map[string]any)
	if err != nil || !isMap {
		return Root{}, false
	}
	spec, err := specOf(fields)
	if err != nil || spec.SourceRef.Name == "" {
		return Root{}, false
	}
	r := Root{Path: cleanPath(spec.Path), Object: o, File: o.File(), namespace: o.Namespace, name: o.Name, spec: spec}
	r.Line, r.Column = o.Position("spec", "path")
	r.source = sourceKey{spec.SourceRef.Kind, cmp.Or(spec.SourceRef.Namespace, o.Namespace), spec.SourceRef.Name}
	return r, true
}

// contains says whether a file is in a folder, or in one below it.
func contains(dir, file string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }

// folderRoots are the outermost folders with Kustomizations that no other Kustomization
// applies. Their source is the one that most of them name.
func folderRoots(repo *repository.Repository) []Root {
	var all []Root
	for _, o := range candidates(repo) {
		if r, ok := rootOf(o); ok {
			all = append(all, r)
		}
	}
	folders := map[string]map[sourceKey]int{}
	for _, r := range all {
		if slices.ContainsFunc(all, func(other Root) bool {
			return other.Object != r.Object && contains(other.Path, r.File) && !contains(r.Path, other.File)
		}) {
			continue
		}
		dir := topFolder(repo, path.Dir(r.File))
		if folders[dir] == nil {
			folders[dir] = map[sourceKey]int{}
		}
		folders[dir][r.source]++
	}
	var roots []Root
	for dir, sources := range folders {
		if slices.ContainsFunc(keys(folders), func(other string) bool { return other != dir && contains(other, dir+"/") }) {
			continue
		}
		roots = append(roots, folderRoot(dir, mostNamed(sources)))
	}
	return roots
}

// folderRoot syncs a folder that nothing in the repository says to sync.
func folderRoot(dir string, source sourceKey) Root {
	r := Root{Path: dir, File: dir, namespace: "flux-system", name: "flux-system", source: source}
	r.spec.Path = dir
	r.spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: source.kind, Name: source.name, Namespace: source.namespace}
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
			if at, inside := repository.Join(parent, ref); inside && (at == dir || contains(at, dir+"/")) {
				dir = parent
				break
			}
		}
	}
	return dir
}

func keys[V any](m map[string]V) []string {
	all := make([]string, 0, len(m))
	for key := range m {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

func mostNamed(sources map[sourceKey]int) sourceKey {
	var best sourceKey
	for key, n := range sources {
		if most := sources[best]; n > most || n == most && compareSources(key, best) < 0 {
			best = key
		}
	}
	return best
}

func compareSources(a, b sourceKey) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
}
