package reconcile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// claim is how well a source fits as the one of the repository itself.
type claim struct {
	key sourceKey
	// named counts what takes its files from the source, and found how much of that finds its
	// folder in the repository; the root folder is in every one.
	named, found int
}

// ownSource is the source of a folder that nothing in the repository says to sync: the one that
// most of the Kustomizations below name whose folders are there. Those that none of the objects
// defines come first; of the GitRepositories that one does, the URL has to be a remote's where
// those are known, and the folders have to be there. It is the zero value where none fits.
func ownSource(repo *repository.Repository, dir string, remotes []string) sourceKey {
	var unknown, defined []*claim
	for _, c := range claims(repo, dir) {
		objects := repo.Find(sourceGroup, c.key.kind, c.key.namespace, c.key.name)
		switch {
		case len(objects) == 0:
			unknown = append(unknown, c)
		case c.key.kind != "GitRepository":
		case len(remotes) > 0 && !slices.ContainsFunc(objects, func(o *repository.Object) bool { return isOneOf(o, remotes) }):
		case len(remotes) == 0 && c.found == 0 && !repo.Partial():
		default:
			defined = append(defined, c)
		}
	}
	best := func(all []*claim) claim {
		if len(all) == 0 {
			return claim{}
		}
		return *slices.MinFunc(all, func(a, b *claim) int {
			return cmp.Or(cmp.Compare(b.found, a.found), cmp.Compare(b.named, a.named), cmp.Compare(a.key.kind, b.key.kind),
				cmp.Compare(a.key.namespace, b.key.namespace), cmp.Compare(a.key.name, b.key.name))
		})
	}
	first, second := best(unknown), best(defined)
	if len(unknown) == 0 || first.found == 0 && second.found > 0 {
		return second.key
	}
	return first.key
}

// claims are the sources that the Kustomizations and ArtifactGenerators below a folder name.
func claims(repo *repository.Repository, dir string) []*claim {
	var all []*claim
	add := func(key sourceKey, found bool) {
		i := slices.IndexFunc(all, func(c *claim) bool { return c.key == key })
		if i < 0 {
			i = len(all)
			all = append(all, &claim{key: key})
		}
		if all[i].named++; found {
			all[i].found++
		}
	}
	has := func(at string) bool {
		_, isFolder := repo.ReadDir(at)
		return at != "." && (isFolder || repo.Exists(at))
	}
	for _, o := range candidates(repo) {
		if r, ok := rootOf(o); ok && contains(dir, r.File) && r.source.kind != "ExternalArtifact" {
			add(r.source, has(r.Path))
		}
	}
	for _, o := range repo.ByKind("source.extensions.fluxcd.io", "ArtifactGenerator") {
		sources := o.Lookup("spec", "sources")
		if sources == nil || !contains(dir, o.File()) {
			continue
		}
		for i := range sources.Content {
			text := func(field string) string {
				value, _ := o.Text("spec", "sources", i, field)
				return value
			}
			add(sourceKey{text("kind"), cmp.Or(text("namespace"), o.Namespace), text("name")}, slices.ContainsFunc(copiedFrom(o, text("alias")), has))
		}
	}
	return all
}

// copiedFrom are the files and folders that an ArtifactGenerator copies from a source, those of a
// pattern up to its first wildcard.
func copiedFrom(o *repository.Object, alias string) []string {
	var all []string
	artifacts := o.Lookup("spec", "artifacts")
	if artifacts == nil {
		return nil
	}
	for _, artifact := range artifacts.Content {
		copies := repository.Lookup(artifact, "copy")
		if copies == nil {
			continue
		}
		for _, operation := range copies.Content {
			at, ok := strings.CutPrefix(text(operation, "from"), "@"+alias+"/")
			if i := strings.IndexAny(at, "*?["); i >= 0 {
				at = path.Dir(at[:i] + "x")
			}
			if ok {
				all = append(all, repository.Clean(at))
			}
		}
	}
	return all
}

// isOneOf says whether a GitRepository is of one of some addresses, or of a repository of the same
// name: a fork has another owner.
func isOneOf(o *repository.Object, remotes []string) bool {
	url, _ := o.Text("spec", "url")
	own := RepositoryAddress(url)
	return slices.ContainsFunc(remotes, func(remote string) bool {
		return path.Base(RepositoryAddress(remote)) == path.Base(own)
	})
}
