package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// sourceOf returns the files of a Kustomization's source: in the validated repository, or in a folder that --source
// names; or the gap that says why they are not available. It returns neither as long as the source's object is not found.
func (w *walker) sourceOf(k *Kustomization) (*builds.Files, *builds.Gap) {
	ref := k.Spec.SourceRef
	return w.resolve(roots.Source{Kind: ref.Kind, Namespace: cmp.Or(ref.Namespace, k.Namespace), Name: ref.Name})
}

func (w *walker) resolve(key roots.Source) (*builds.Files, *builds.Gap) {
	if mapped, ok := w.mapped[key.Namespace+"/"+key.Name]; ok {
		w.recordWanted(key, true)
		return mapped, nil
	}
	if key == w.cluster.Root.Source || slices.Contains(w.cluster.Root.Synced, key) {
		return w.ownAs(key), nil
	}
	if key.Kind == "ExternalArtifact" {
		return w.artifact(key)
	}
	found := w.find(Identity{fluxapi.SourceGroup, key.Kind, key.Namespace, key.Name})
	if found == nil {
		return nil, nil
	}
	root := w.cluster.Root.Source
	own := w.find(Identity{fluxapi.SourceGroup, root.Kind, root.Namespace, root.Name})
	if own == nil {
		own = syncedBy(w.cluster.Root)
	}
	if own == nil {
		own = w.ownInFiles()
	}
	if own != nil && sameSource(found, own) {
		return w.ownAs(key), nil
	}
	if mapped := w.mappedAs(found); mapped != nil {
		w.recordWanted(key, true)
		return mapped, nil
	}
	branch, gap := w.branchOf(key, found, own)
	if branch != nil {
		return branch, nil
	}
	files, other := w.fromCache(key)
	if files == nil && gap != nil {
		return nil, gap
	}
	return files, other
}

// mappedAs returns the files that --source names for another source of the same repository and branch; nil if there are
// none.
func (w *walker) mappedAs(found *Object) *builds.Files {
	if found.Field("spec", "include") != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.mapped)) {
		namespace, name, _ := strings.Cut(name, "/")
		other := w.find(Identity{fluxapi.SourceGroup, kindGit, namespace, name})
		if other != nil && sameSource(found, other) {
			return w.mapped[namespace+"/"+name]
		}
	}
	return nil
}

// ownAs returns the files of the repository as a source's artifact contains them: two sources of one repository may
// include other sources and submodules.
func (w *walker) ownAs(key roots.Source) *builds.Files {
	if files := w.ownBy[key]; files != nil {
		return files
	}
	o := w.find(Identity{fluxapi.SourceGroup, key.Kind, key.Namespace, key.Name})
	if o == nil {
		return w.own // its object may be found later
	}
	files := w.own
	if brought := broughtBy(o, w.own); !maps.Equal(brought, w.own.Brought) {
		files = &builds.Files{Repo: w.own.Repo, Base: w.own.Base, Budget: w.own.Budget, Remotes: w.own.Remotes, Brought: brought}
	}
	w.ownBy[key] = files
	return files
}

// broughtBy returns the folders that a source adds to its artifact from elsewhere, each with its origin: other sources
// that it includes, and submodules, which an artifact pushed by CI may have, too.
func broughtBy(source *Object, own *builds.Files) map[string]string {
	brought := map[string]string{}
	for i := range source.List("spec", "include") {
		name := source.Text("spec", "include", i, "repository", "name")
		to := cmp.Or(source.Text("spec", "include", i, "toPath"), name)
		brought[path.Join(own.Base, repository.Clean(to))] = fmt.Sprintf("%s includes it from GitRepository %s/%s", source, source.Namespace, name)
	}
	if source.Kind != kindGit || source.Field("spec", "recurseSubmodules") == true {
		for folder := range own.Repo.Submodules() {
			brought[folder] = "it is in submodule " + folder
		}
	}
	return brought
}

// sourceInFile returns the source of a root as defined in a file, before anything is built.
func sourceInFile(root roots.Root, repo *repository.Repository) *Object {
	o := &Object{Identity: Identity{fluxapi.SourceGroup, cmp.Or(root.Source.Kind, kindGit), root.Source.Namespace, root.Source.Name},
		Value: map[string]any{"spec": map[string]any{"recurseSubmodules": true}}} // no file says otherwise
	for _, file := range repo.Find(fluxapi.SourceGroup, root.Source.Kind, root.Source.Namespace, root.Source.Name) {
		if value, err := file.Value(); err == nil {
			o.Value, _ = value.(map[string]any)
		}
	}
	return o
}

// ownInFiles returns the source of the repository itself as defined in the file beside the one that syncs the cluster, if
// no build applies that file, for example because a kustomization does not list it; nil elsewhere.
func (w *walker) ownInFiles() *Object {
	root := w.cluster.Root
	found := slices.DeleteFunc(slices.Clone(w.own.Repo.Find(fluxapi.SourceGroup, root.Source.Kind, root.Source.Namespace, root.Source.Name)),
		func(o *repository.Object) bool { return path.Dir(o.File()) != path.Dir(root.File) })
	if len(found) != 1 {
		return nil
	}
	value, err := found[0].Value()
	fields, isMap := value.(map[string]any)
	if err != nil || !isMap {
		return nil
	}
	o := &Object{Value: fields}
	o.Kind = root.Source.Kind
	return o
}

// secondName returns the definition of a Kustomization's source if it is the repository itself under a second name: a
// file that no build applies defines it, with the address of the cluster's root. It returns nil if it is not.
func (w *walker) secondName(k *Kustomization) *repository.Object {
	ref, root := k.Spec.SourceRef, w.cluster.Root
	if ref.Kind != kindGit || root.Source.Kind != ref.Kind || !roots.Has(w.own.Repo, path.Join(w.own.Base, repository.Clean(k.Spec.Path))) {
		return nil
	}
	url := func(o *repository.Object) string {
		at, _ := o.Text("spec", "url")
		return at
	}
	var own []string
	if root.URL != "" {
		own = append(own, roots.RepositoryAddress(root.URL))
	}
	for _, o := range w.own.Repo.Find(fluxapi.SourceGroup, root.Source.Kind, root.Source.Namespace, root.Source.Name) {
		own = append(own, roots.RepositoryAddress(url(o)))
	}
	for _, o := range w.own.Repo.Find(fluxapi.SourceGroup, ref.Kind, cmp.Or(ref.Namespace, k.Namespace), ref.Name) {
		if !repository.IsExample(o.File()) && !repository.IsArchived(o.File()) && url(o) != "" && slices.Contains(own, roots.RepositoryAddress(url(o))) {
			return o
		}
	}
	return nil
}

// sourceMissing returns the gap of a Kustomization whose source is not in Git. A misspelt source may be the repository
// itself.
func (w *walker) sourceMissing(k *Kustomization) *builds.Gap {
	ref := k.Spec.SourceRef
	namespace := cmp.Or(ref.Namespace, k.Namespace)
	if dir := path.Join(w.own.Base, repository.Clean(k.Spec.Path)); roots.Has(w.own.Repo, dir) {
		_, near := nearest.To(ref.Name, []string{w.cluster.Root.Source.Name})
		k.likely = likelyFolder{repo: w.own.Repo, dir: dir, certain: near || strings.Contains(repository.Clean(k.Spec.Path), "/")}
	}
	for _, g := range w.generators {
		if ref.Kind == "ExternalArtifact" && g.creates(namespace, ref.Name) {
			return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("its source %s %s/%s is created by %s, and a source of that is not among the cluster's objects", ref.Kind, namespace, ref.Name, g.object)}
		}
	}
	return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("its source %s %s/%s is not among the cluster's objects; check it out and pass --source %s/%s=DIR",
		ref.Kind, namespace, ref.Name, namespace, ref.Name)}
}

// syncedBy returns the source that the Flux Operator creates for a FluxInstance, nil if it is unknown.
func syncedBy(root roots.Root) *Object {
	if root.URL == "" || strings.Contains(root.URL+root.Ref, "${") {
		return nil
	}
	spec := map[string]any{"url": root.URL}
	if branch, ok := strings.CutPrefix(root.Ref, "refs/heads/"); ok {
		spec["ref"] = map[string]any{"branch": branch}
	} else if tag, ok := strings.CutPrefix(root.Ref, "refs/tags/"); ok {
		spec["ref"] = map[string]any{"tag": tag}
	} else if root.Ref != "" {
		spec["ref"] = map[string]any{"name": root.Ref}
	}
	o := &Object{Value: map[string]any{"spec": spec}}
	o.Kind = root.Source.Kind
	return o
}

// sameSource reports whether two GitRepositories have the same repository and reference.
func sameSource(a, b *Object) bool {
	if a.Kind != b.Kind || a.Kind != kindGit {
		return false
	}
	text := func(o *Object, path ...string) string {
		value, _, _ := unstructured.NestedString(o.Value, append([]string{"spec"}, path...)...)
		return value
	}
	if roots.RepositoryAddress(text(a, "url")) != roots.RepositoryAddress(text(b, "url")) {
		return false
	}
	return !slices.ContainsFunc([]string{"tag", "semver", "name", "commit", "branch"}, func(field string) bool {
		return text(a, "ref", field) != text(b, "ref", field)
	})
}
