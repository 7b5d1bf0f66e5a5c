package reconcile

import (
	"cmp"
	"fmt"
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

// sourceOf says where the files of a Kustomization are: in the validated repository, in a
// folder that --source names, or out of reach for the reason that it returns. It returns
// neither while the source's object is not found.
func (w *walker) sourceOf(k *Kustomization) (*builds.Files, *builds.Gap) {
	ref := k.Spec.SourceRef
	return w.resolve(roots.Source{Kind: ref.Kind, Namespace: cmp.Or(ref.Namespace, k.Namespace), Name: ref.Name})
}

func (w *walker) resolve(key roots.Source) (*builds.Files, *builds.Gap) {
	if mapped, ok := w.mapped[key.Namespace+"/"+key.Name]; ok {
		return mapped, nil
	}
	if key == w.cluster.Root.Source {
		return w.own, nil
	}
	if key.Kind == "ExternalArtifact" {
		return w.artifact(key)
	}
	found := w.find(Identity{fluxapi.SourceGroup, key.Kind, key.Namespace, key.Name})
	if found == nil {
		return nil, nil
	}
	root := w.cluster.Root.Source
	if own := w.find(Identity{fluxapi.SourceGroup, root.Kind, root.Namespace, root.Name}); own != nil && sameSource(found, own) {
		return w.own, nil
	}
	return nil, &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("its source %s %s/%s is another repository, branch or artifact; check it out and pass --source %s/%s=DIR",
		key.Kind, key.Namespace, key.Name, key.Namespace, key.Name)}
}

// sourceMissing is the gap of a Kustomization whose source is nowhere in Git. A misspelt one may
// mean the repository itself.
func (w *walker) sourceMissing(k *Kustomization) *builds.Gap {
	ref := k.Spec.SourceRef
	namespace := cmp.Or(ref.Namespace, k.Namespace)
	if dir := path.Join(w.own.Base, repository.Clean(k.Spec.Path)); roots.Has(w.own.Repo, dir) {
		_, near := nearest.To(ref.Name, []string{w.cluster.Root.Source.Name})
		k.meant = meant{repo: w.own.Repo, dir: dir, certain: near || strings.Contains(repository.Clean(k.Spec.Path), "/")}
	}
	for _, g := range w.generators {
		if ref.Kind == "ExternalArtifact" && g.makes(namespace, ref.Name) {
			return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("its source %s %s/%s is created by %s, and a source of that is not among the cluster's objects", ref.Kind, namespace, ref.Name, g.object)}
		}
	}
	return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("its source %s %s/%s is not among the cluster's objects; check it out and pass --source %s/%s=DIR",
		ref.Kind, namespace, ref.Name, namespace, ref.Name)}
}

// sameSource says whether two GitRepositories are of one repository at one reference.
func sameSource(a, b *Object) bool {
	if a.Kind != b.Kind || a.Kind != "GitRepository" {
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
