package reconcile

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// sourceOf says where the files of a Kustomization are: in the validated repository, in a
// folder that --source names, or out of reach for the reason that it returns. It returns
// neither while the source's object is not found.
func (w *walker) sourceOf(k *Kustomization) (*builds.Files, *builds.Gap) {
	ref := k.Spec.SourceRef
	return w.resolve(sourceKey{ref.Kind, cmp.Or(ref.Namespace, k.Namespace), ref.Name})
}

func (w *walker) resolve(key sourceKey) (*builds.Files, *builds.Gap) {
	if mapped, ok := w.mapped[key.namespace+"/"+key.name]; ok {
		return mapped, nil
	}
	if key == w.cluster.Root.source {
		return w.own, nil
	}
	if key.kind == "ExternalArtifact" {
		return w.artifact(key)
	}
	found := w.find(Identity{sourceGroup, key.kind, key.namespace, key.name})
	if found == nil {
		return nil, nil
	}
	root := w.cluster.Root.source
	if own := w.find(Identity{sourceGroup, root.kind, root.namespace, root.name}); own != nil && sameSource(found, own) {
		return w.own, nil
	}
	return nil, &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("%s %s/%s is another repository, branch or artifact; --source %s/%s=DIR names a folder with its files",
		key.kind, key.namespace, key.name, key.namespace, key.name)}
}

// sourceMissing is the gap of a Kustomization whose source is nowhere in Git. A misspelt one may
// mean the repository itself.
func (w *walker) sourceMissing(k *Kustomization) *builds.Gap {
	ref := k.Spec.SourceRef
	namespace := cmp.Or(ref.Namespace, k.Namespace)
	if dir := path.Join(w.own.Base, repository.Clean(k.Spec.Path)); tells(w.own.Repo, dir) {
		_, near := nearest.To(ref.Name, []string{w.cluster.Root.source.name})
		k.meant = meant{repo: w.own.Repo, dir: dir, certain: near || strings.Contains(repository.Clean(k.Spec.Path), "/")}
	}
	for _, g := range w.generators {
		if ref.Kind == "ExternalArtifact" && g.makes(namespace, ref.Name) {
			return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("%s %s/%s is made by %s, and a source of that is not among the cluster's objects", ref.Kind, namespace, ref.Name, g.object)}
		}
	}
	return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("%s %s/%s is not among the cluster's objects; --source %s/%s=DIR names a folder with its files",
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
	if RepositoryAddress(text(a, "url")) != RepositoryAddress(text(b, "url")) {
		return false
	}
	return !slices.ContainsFunc([]string{"tag", "semver", "name", "commit", "branch"}, func(field string) bool {
		return text(a, "ref", field) != text(b, "ref", field)
	})
}

// RepositoryAddress is a Git URL without what doesn't tell repositories apart: the protocol,
// the user, the port, a .git at the end and the case. ssh://git@host/org/repo.git,
// git@host:org/repo and https://host/org/repo give the same.
func RepositoryAddress(url string) string {
	url = strings.ToLower(url)
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	} else if host, path, ok := strings.Cut(url, ":"); ok && !strings.Contains(host, "/") {
		url = host + "/" + path
	}
	host, path, _ := strings.Cut(url, "/")
	host = host[strings.LastIndex(host, "@")+1:]
	host, _, _ = strings.Cut(host, ":")
	return host + "/" + strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}
