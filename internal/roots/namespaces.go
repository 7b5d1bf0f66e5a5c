package roots

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// namespaces maps files to the namespaces that Kustomizations set for the folders that they apply, and kustomizations for
// theirs.
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
		name := n.targets[dir]
		if k, ok := n.repo.KustomizeAt(dir); ok && k.Spec != nil {
			name = cmp.Or(name, k.Spec.Namespace)
		}
		if name != "" && !strings.Contains(name, "${") {
			return name
		}
	}
	return ""
}

// sources returns the objects that define a source.
func (n namespaces) sources(key Source) []*repository.Object {
	return slices.DeleteFunc(slices.Clone(n.repo.ByKind(fluxapi.SourceGroup, key.Kind)), func(o *repository.Object) bool {
		return o.Name != key.Name || o.Namespace != key.Namespace && (o.Namespace != "" || n.of(o.File()) != key.Namespace)
	})
}

// Source names a source object.
type Source struct{ Kind, Namespace, Name string }

// above returns the folders that contain a file or folder, the innermost first.
func above(at string) []string {
	var dirs []string
	for at != "." {
		at = path.Dir(at)
		dirs = append(dirs, at)
	}
	return dirs
}
