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
// most of the Kustomizations below name whose folders are there; of those that as many name, one
// that none of the objects defines. Of the GitRepositories that one does define, the URL has to be a
// remote's where those are known, and the folders have to be there. It is the zero value where none
// fits.
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
	if len(unknown) == 0 || second.found > first.found {
		return second.key
	}
	return first.key
}

// tally are the claims of sources.
type tally map[sourceKey]*claim

func (t tally) add(key sourceKey, found bool) {
	if t[key] == nil {
		t[key] = &claim{key: key}
	}
	if t[key].named++; found {
		t[key].found++
	}
}

// tallyOf are the claims of the sources of some Kustomizations.
func tallyOf(repo *repository.Repository, all []Root) tally {
	t := tally{}
	for _, r := range all {
		t.add(r.source, tells(repo, r.Path))
	}
	return t
}

// claims are the sources that the Kustomizations and ArtifactGenerators below a folder name.
func claims(repo *repository.Repository, dir string) tally {
	all := tallyOf(repo, slices.DeleteFunc(rootsOf(candidates(repo)), func(r Root) bool {
		return !repository.Within(dir, r.File) || r.source.kind == "ExternalArtifact"
	}))
	has := func(at string) bool { return tells(repo, at) }
	for _, o := range repo.ByKind("source.extensions.fluxcd.io", "ArtifactGenerator") {
		sources := o.Lookup("spec", "sources")
		if sources == nil || !repository.Within(dir, o.File()) {
			continue
		}
		for i := range sources.Content {
			text := func(field string) string {
				value, _ := o.Text("spec", "sources", i, field)
				return value
			}
			all.add(sourceKey{text("kind"), cmp.Or(text("namespace"), o.Namespace), text("name")}, slices.ContainsFunc(copiedFrom(o, text("alias")), has))
		}
	}
	return all
}

// tells says whether a repository has a file or folder; the root folder is in every one.
func tells(repo *repository.Repository, at string) bool {
	_, isFolder := repo.ReadDir(at)
	return at != "." && (isFolder || repo.Exists(at))
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
			from := ""
			if n := repository.Lookup(operation, "from"); n != nil {
				from = n.Value
			}
			at, ok := strings.CutPrefix(from, "@"+alias+"/")
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
