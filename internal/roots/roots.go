package roots

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/boundary"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Root is the root of a cluster: the folder at which Flux starts.
type Root struct {
	// Path is the synced folder, relative to the repository's root; "." is the whole repository.
	Path string
	// Base is the folder that the source contains: "." for a repository, another folder for an
	// artifact that was created from a folder. Path is below it.
	Base string
	// Object is the FluxInstance, HelmRelease or Flux Kustomization that syncs the folder; nil if
	// no object in the repository does.
	Object *repository.Object
	// Place is the position of the declaration.
	finding.Place

	// Namespace, Name and Spec are the name and the spec of the Flux Kustomization that syncs the folder.
	Namespace, Name string
	Spec            kustomizev1.KustomizationSpec
	// Source is the source object of the repository itself.
	Source Source

	// URL and Ref are the address and the Git reference that a FluxInstance syncs, or that a TenantBoundary names; "" for
	// other roots.
	URL, Ref string

	// Fits is the path in a FluxInstance, with a variable, if Path is one of the folders that match it; else "".
	Fits string

	// Boundary is what the platform allows the tenant that owns the repository; nil for other roots.
	Boundary *boundary.Boundary

	// Synced are further sources of the repository itself: those of other FluxInstances and Kustomizations that sync the
	// folder.
	Synced []Source

	// Scripted are Kustomizations that a script applies and no build: each is in the folder that it applies, from the
	// source of this root, which no other root has.
	Scripted []Root

	// Once is the file of the first Kustomization in a folder that kubectl applies once; "" for other roots. It is a root only
	// if no build of another cluster reaches it.
	Once string

	// patches are the patches of a FluxInstance, as plain values.
	patches any
}

// Guessed reports whether no object in the repository syncs the folder.
func (r Root) Guessed() bool { return r.Object == nil && r.File == r.Path }

// Find returns the roots of the repository's clusters: the folders that a FluxInstance syncs, and
// those of Kustomizations that are in the folder that they apply, as `flux bootstrap` creates them.
// If there are none, it returns each outermost folder with Kustomizations that no other Kustomization
// applies: then their FluxInstance is in another repository.
func Find(repo *repository.Repository, remotes []string) []Root {
	namespaces := namespacesOf(repo)
	instances := instanceRoots(repo, namespaces)
	others := otherSyncs(namespaces, remotes, len(instances) == 0)
	roots := slices.Concat(fittingAll(repo, instances), syncRoots(slices.Concat(Candidates(repo), byHand(repo)), repo, others), preparedRoots(repo))
	if used := slices.DeleteFunc(slices.Clone(roots), func(r Root) bool { return isPutAway(r.File) }); len(used) > 0 {
		roots = used
	}
	if len(roots) == 0 {
		roots = slices.DeleteFunc(syncRoots(unlisted(repo), repo, others), func(r Root) bool { return !r.isFluxSystem() })
	}
	if len(roots) == 0 {
		roots = unlistedSyncs(repo)
	}
	if len(roots) == 0 {
		roots = patchedRoots(repo)
	}
	roots = append(roots, boundaryRoots(repo)...)
	if len(roots) == 0 {
		roots = folderRoots(namespaces, others, remotes)
	} else {
		roots = append(roots, appliedRoots(namespaces, roots, remotes)...)
	}
	for i := range roots {
		roots[i] = roots[i].within(repo).named(namespaces)
	}
	roots = sorted(withoutSuperseded(repo, roots))
	addScripted(repo, roots)
	return roots
}

// sorted returns the roots sorted by their folders, one for each folder, with the sources of the others in Synced.
func sorted(all []Root) []Root {
	sorting.StableFunc(all, func(a, b Root) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(b.rank(), a.rank())) })
	var roots []Root
	for _, r := range all {
		if last := len(roots) - 1; last < 0 || roots[last].Path != r.Path {
			roots = append(roots, r)
		} else if roots[last].Source != r.Source && r.Source.Name != "" {
			roots[last].Synced = append(roots[last].Synced, r.Source)
		}
	}
	return roots
}

// instanceRoots returns the roots that FluxInstances sync: of the objects themselves, and of the values
// of the flux-instance chart, in a HelmRelease or in a values file.
func instanceRoots(repo *repository.Repository, namespaces namespaces) []Root {
	var roots []Root
	for o := range repo.Objects() {
		switch {
		case o.Group() == fluxapi.OperatorGroup && o.Kind == "FluxInstance":
			roots = addSync(namespaces, roots, o.Document, o, o.Namespace, []any{"spec"})
		case o.Group() == fluxapi.HelmGroup && o.Kind == "HelmRelease":
			target, _ := o.Text("spec", "targetNamespace")
			roots = addSync(namespaces, roots, o.Document, o, cmp.Or(target, o.Namespace), []any{"spec", "values", "instance"})
		}
	}
	for _, f := range repo.Files() {
		if f.Excluded || repo.Use(f.Path) == repository.Chart {
			continue
		}
		for _, d := range f.Documents {
			if len(d.Objects) == 0 && d.Lookup("instance") != nil {
				roots = addSync(namespaces, roots, d, nil, "", []any{"instance"})
			}
		}
	}
	return roots
}

// named returns a root whose declaration has no namespace with the one that a kustomization sets.
func (r Root) named(namespaces namespaces) Root {
	if r.Object == nil || r.Namespace != "" {
		return r
	}
	r.Namespace = namespaces.of(r.File)
	r.Source.Namespace = cmp.Or(r.Source.Namespace, r.Namespace)
	return r
}

// name sets the namespaces of Kustomizations and of their sources.
func (n namespaces) name(all []Root) []Root {
	for i := range all {
		all[i] = all[i].named(n)
	}
	return all
}

// addSync adds the root that a FluxInstance syncs. Its spec is at a path of a document.
func addSync(namespaces namespaces, roots []Root, d *repository.Document, o *repository.Object, namespace string, at []any) []Root {
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
	r := Root{Path: repository.Clean(text("path")), Object: o, Place: finding.Place{File: d.File.Path}, Namespace: cmp.Or(namespace, namespaces.of(d.File.Path), "flux-system")}
	r.Line, r.Column = repository.Position(node, append(slices.Clone(at), "sync", "path")...)
	r.Name = cmp.Or(text("name"), r.Namespace) // the operator's default
	r.Base, r.URL, r.Ref = ".", text("url"), text("ref")
	r.Source = Source{cmp.Or(text("kind"), "GitRepository"), r.Namespace, r.Name}
	r.Spec.Path = text("path")
	r.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: r.Source.Kind, Name: r.Name}
	if patches := repository.Lookup(node, append(slices.Clone(at), "kustomize", "patches")...); patches != nil {
		r.patches, _ = repository.Value(d.File.Path, patches)
	}
	return append(roots, r)
}

// syncRoots returns the roots of Kustomizations that are in the folder that they apply, without those that sync others.
func syncRoots(among []*repository.Object, repo *repository.Repository, others map[*repository.Object]bool) []Root {
	var roots []Root
	for _, o := range among {
		r, ok := rootOf(o)
		if ok && r.isFluxSystem() {
			r = r.inside(repo)
		}
		if !ok || !repository.Within(r.Path, o.File()) || r.Path == "." && !r.isFluxSystem() {
			continue
		}
		source := repo.Find(fluxapi.SourceGroup, r.Source.Kind, r.Source.Namespace, r.Source.Name)
		beside := func(s *repository.Object) bool { return path.Dir(s.File()) == path.Dir(o.File()) }
		if slices.ContainsFunc(source, beside) && !others[o] {
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
	all := slices.DeleteFunc(rootsOf(among), func(r Root) bool {
		// A Kustomization in another folder with the same fields is the template of the one in its own folder.
		return others[r.Object] || slices.ContainsFunc(roots, func(own Root) bool { return own.Object != r.Object && own.is(r) }) &&
			!slices.ContainsFunc(roots, func(own Root) bool { return own.Object == r.Object })
	})
	for _, r := range topmost(repo, all) {
		first[r.Object] = true
	}
	return slices.DeleteFunc(roots, func(r Root) bool { return !first[r.Object] })
}

// isFluxSystem reports whether the root has the name that `flux bootstrap` uses.
func (r Root) isFluxSystem() bool { return r.Namespace == "flux-system" && r.Name == "flux-system" }

// rank returns the priority of a root among the roots of the same folder: 1 for a Kustomization that syncs its own folder, 0
// for all others. If there also is a FluxInstance for the folder, it is not applied: its sync would be a second one.
func (r Root) rank() int {
	if r.Object != nil && r.Object.Kind == "Kustomization" {
		return 1
	}
	return 0
}

// is reports whether two roots are the same Kustomization.
func (r Root) is(other Root) bool {
	return r.Namespace == other.Namespace && r.Name == other.Name && r.Path == other.Path && r.Source == other.Source
}

// within sets the base of a root: the only folder of the repository, from which an artifact is created, that contains
// the root's path. If the path exists at the repository's root, the base does not change.
func (r Root) within(repo *repository.Repository) Root {
	if _, ok := repo.ReadDir(r.Path); ok {
		return r
	}
	if r.Source.Kind == "GitRepository" {
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

// inside sets the base and path of a root whose repository is a folder of this one: the folder above the root's own
// file that contains the root's path and the file.
func (r Root) inside(repo *repository.Repository) Root {
	if _, ok := repo.ReadDir(r.Path); ok {
		return r
	}
	for _, base := range above(r.File) {
		at := path.Join(base, r.Path)
		if _, ok := repo.ReadDir(at); ok && base != "." && repository.Within(at, r.File) {
			r.Base, r.Path = base, at
			break
		}
	}
	return r
}

// Candidates returns the Kustomizations in files that Flux may apply unchanged. It excludes templates and archives if
// there are others.
func Candidates(repo *repository.Repository) []*repository.Object {
	all := slices.DeleteFunc(slices.Clone(repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")), func(o *repository.Object) bool {
		use := repo.Use(o.File())
		return use != repository.Resource && use != repository.Plain
	})
	if used := slices.DeleteFunc(slices.Clone(all), func(o *repository.Object) bool { return isPutAway(o.File()) }); len(used) > 0 {
		return used
	}
	return all
}

// isPutAway reports whether a file is a template of a cluster, or archived.
func isPutAway(file string) bool {
	return repository.IsPutAway(file) || repository.IsTemplate(file) || repository.IsArchived(file)
}

// unlisted returns the Kustomizations in files in a folder whose kustomization doesn't list
// them: `flux bootstrap` has applied them, so that they sync nevertheless.
func unlisted(repo *repository.Repository) []*repository.Object {
	return slices.DeleteFunc(slices.Clone(repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")), func(o *repository.Object) bool {
		return repo.Use(o.File()) != repository.Unlisted
	})
}

// unlistedSyncs are Kustomizations flux-system/flux-system in files that the kustomization beside them does not list, each of
// which syncs the folder that it is in, from a source that no file defines; and those that `flux bootstrap` has written,
// whatever lists them and defines their sources.
func unlistedSyncs(repo *repository.Repository) []Root {
	return slices.DeleteFunc(rootsOf(repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")), func(r Root) bool {
		use, dir := repo.Use(r.File), path.Dir(r.File)
		if !r.isFluxSystem() || r.Path == "." || isPutAway(r.File) {
			return true
		}
		if path.Base(r.File) == "gotk-sync.yaml" && path.Base(dir) == "flux-system" && r.Path == path.Dir(dir) {
			return use != repository.Unlisted && use != repository.Resource && use != repository.Plain
		}
		return use != repository.Unlisted || r.Path != dir || len(repo.Find(fluxapi.SourceGroup, r.Source.Kind, r.Source.Namespace, r.Source.Name)) > 0
	})
}

// byHand returns the Kustomizations that people apply with kubectl to start a cluster. Each is in one file with its
// source, and syncs the folder of the file, whose kustomization does not list the file. If the kustomization lists nothing
// yet, the Kustomization starts no cluster.
func byHand(repo *repository.Repository) []*repository.Object {
	return slices.DeleteFunc(unlisted(repo), func(o *repository.Object) bool {
		r, ok := rootOf(o)
		if !ok || isPutAway(o.File()) || r.Path == "." || r.Path != path.Dir(o.File()) || r.isTemplate() {
			return true
		}
		k, _ := repo.KustomizeAt(r.Path)
		beside := func(s *repository.Object) bool { return s.File() == o.File() }
		return k == nil || k.Spec == nil || len(k.Spec.Resources)+len(k.Spec.Components) == 0 ||
			!slices.ContainsFunc(repo.Find(fluxapi.SourceGroup, r.Source.Kind, r.Source.Namespace, r.Source.Name), beside)
	})
}

// isTemplate reports whether the root's name contains variables. Then another repository applies it with its own
// Kustomization, as in a catalog of applications, or a script replaces them, and it starts no cluster.
func (r Root) isTemplate() bool { return strings.Contains(r.Namespace+r.Name, "$") }

// rootOf returns the root for a Kustomization in a file.
func rootOf(o *repository.Object) (Root, bool) {
	value, err := o.Value()
	fields, isMap := value.(map[string]any)
	if err != nil || !isMap {
		return Root{}, false
	}
	spec, wrong := builds.SpecOf(fields)
	if wrong != "" || spec.SourceRef.Name == "" || strings.ContainsAny(spec.Path, "<>") { // a placeholder that a script fills in
		return Root{}, false
	}
	if spec.Path == "" && o.Lookup("spec", "interval") == nil {
		return Root{}, false // a patch: the API server refuses a Kustomization without an interval
	}
	r := Root{Path: repository.Clean(spec.Path), Base: ".", Object: o, Place: finding.Place{File: o.File()}, Namespace: o.Namespace, Name: o.Name, Spec: spec}
	r.Line, r.Column = o.Position("spec", "path")
	r.Source = Source{spec.SourceRef.Kind, cmp.Or(spec.SourceRef.Namespace, o.Namespace), spec.SourceRef.Name}
	return r, true
}

// rootsOf returns the roots for Kustomizations in files, without unreadable ones.
func rootsOf(among []*repository.Object) []Root {
	var all []Root
	for _, o := range among {
		if r, ok := rootOf(o); ok {
			all = append(all, r)
		}
	}
	return all
}

// folderRoots returns the roots for the outermost folders with Kustomizations that no other Kustomization
// applies.
func folderRoots(namespaces namespaces, others map[*repository.Object]bool, remotes []string) []Root {
	repo := namespaces.repo
	all := slices.DeleteFunc(namespaces.name(rootsOf(Candidates(repo))), func(r Root) bool { return others[r.Object] })
	// The source of the repository itself is rarely defined in it; defined sources are a tenant's, or a
	// controller's.
	defined := func(key Source) bool {
		return key.Kind != "ExternalArtifact" && len(namespaces.sources(key)) > 0
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
	all = inArtifact(repo, all)
	var roots []Root
	by, left, synced := listers(repo), mostOverlays, syncsOf(all)
	for _, dir := range outermost(repo, all, func(r Root) string { return path.Dir(r.File) }) {
		base := baseOf(repo, dir, all)
		for _, top := range overlays(by, dir, &left) {
			r := folder(namespaces, dir, remotes)
			if top != dir {
				r.Path, r.File, r.Spec.Path = top, top, top
			}
			roots = append(roots, bootstrapRoot(repo, all, synced, r.below(base)))
		}
	}
	return roots
}

// bootstrapRoot returns the only Kustomization in the folder of a guessed root that applies that folder from the source of the
// repository: it is the one that flux bootstrap creates. If there is none, it returns the guessed root, with its variables.
func bootstrapRoot(repo *repository.Repository, all []Root, by syncs, guessed Root) Root {
	own := slices.DeleteFunc(slices.Clone(all), func(r Root) bool {
		return r.isTemplate() || r.Path == "." || r.Source != guessed.Source || r.Path != guessed.Path && !repository.Within(r.Path, guessed.Path) ||
			!repository.Within(guessed.Path, r.File) || !Has(repo, r.Path)
	})
	if len(own) != 1 {
		return by.variables(repo, guessed)
	}
	return own[0]
}

// Suggest returns the folders that a cluster could sync to apply some Kustomizations, which nothing applies now. For
// each of them that no other one applies, it returns the folder that the Kustomization syncs if its own file is in that
// folder, and otherwise the folder of its file.
func Suggest(repo *repository.Repository, among []*repository.Object) []string {
	return outermost(repo, rootsOf(among), func(r Root) string {
		if r.Path != "." && Has(repo, r.Path) && repository.Within(r.Path, r.File) {
			return r.Path
		}
		return path.Dir(r.File)
	})
}

// outermost returns the outermost folders of the Kustomizations that no other one of them applies.
func outermost(repo *repository.Repository, all []Root, folder func(Root) string) []string {
	folders := map[string]bool{}
	for _, r := range topmost(repo, all) {
		if r.isTemplate() {
			continue
		}
		folders[topFolder(repo, folder(r))] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(folders)), func(dir string) bool {
		return slices.ContainsFunc(above(dir), func(other string) bool { return folders[other] })
	})
}

// Folder returns a root for a folder that no object in the repository syncs.
func Folder(repo *repository.Repository, dir string, remotes []string) Root {
	return folder(namespacesOf(repo), dir, remotes)
}

func folder(namespaces namespaces, dir string, remotes []string) Root {
	source := ownSource(namespaces, dir, remotes)
	r := Root{Path: dir, Base: ".", Place: finding.Place{File: dir}, Namespace: "flux-system", Name: "flux-system", Source: source}
	r.Spec.Path = dir
	r.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: source.Kind, Name: source.Name, Namespace: source.Namespace}
	return r
}

// topFolder returns the outermost folder whose kustomization includes a folder.
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
