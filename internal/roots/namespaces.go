package roots

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// named returns a root whose declaration has no namespace with the one that a kustomization sets.
func (r Root) named(namespaces namespaces) Root {
	if r.Object == nil || r.Namespace != "" {
		return r
	}
	r.Namespace = namespaces.of(r.File)
	r.Source.Namespace = cmp.Or(r.Source.Namespace, r.Namespace)
	return r
}

// namespaces are those that Kustomizations set for the folders that they apply, and kustomizations for theirs.
type namespaces struct {
	repo    *repository.Repository
	targets map[string]string
}

func namespacesOf(repo *repository.Repository) namespaces {
	targets := map[string]string{}
	for _, o := range repo.ByKind(fluxapi.KustomizeGroup, "Kustomization") {
		at, _ := o.Text("spec", "path")
		target, _ := o.Text("spec", "targetNamespace")
		targets[repository.Clean(at)] = cmp.Or(targets[repository.Clean(at)], target)
	}
	return namespaces{repo, targets}
}

// of returns the namespace that the innermost of them sets for a file, "" if none does.
func (n namespaces) of(file string) string {
	for _, dir := range above(file) {
		given := n.targets[dir]
		if k, ok := n.repo.KustomizeAt(dir); ok && k.Spec != nil {
			given = cmp.Or(given, k.Spec.Namespace)
		}
		if given != "" && !strings.Contains(given, "${") {
			return given
		}
	}
	return ""
}

// name sets the namespaces of Kustomizations and of their sources.
func (n namespaces) name(all []Root) []Root {
	for i := range all {
		all[i] = all[i].named(n)
	}
	return all
}

// sources returns the objects that define a source.
func (n namespaces) sources(key Source) []*repository.Object {
	return slices.DeleteFunc(slices.Clone(n.repo.ByKind(fluxapi.SourceGroup, key.Kind)), func(o *repository.Object) bool {
		return o.Name != key.Name || o.Namespace != key.Namespace && (o.Namespace != "" || n.of(o.File()) != key.Namespace)
	})
}
