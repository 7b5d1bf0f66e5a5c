package roots

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// claim is how well a source fits as the one of the repository itself.
type claim struct {
	key Source
	// named counts what takes its files from the source, and found how much of that finds its
	// folder in the repository; the root folder is in every one.
	named, found int
}

// ownSource is the source of a folder that nothing in the repository says to sync: the one that
// most of the Kustomizations below name whose folders are there; of those that as many name, one
// that none of the objects defines. Of the GitRepositories that one does define, the URL has to be a
// remote's where those are known, and the folders have to be there. It is the zero value where none
// fits.
func ownSource(repo *repository.Repository, dir string, remotes []string) Source {
	var unknown, defined []*claim
	for _, c := range claims(repo, dir) {
		objects := repo.Find(fluxapi.SourceGroup, c.key.Kind, c.key.Namespace, c.key.Name)
		switch {
		case len(objects) == 0:
			unknown = append(unknown, c)
		case c.key.Kind != "GitRepository":
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
			return cmp.Or(cmp.Compare(b.found, a.found), cmp.Compare(b.named, a.named), cmp.Compare(a.key.Kind, b.key.Kind),
				cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name))
		})
	}
	first, second := best(unknown), best(defined)
	if len(unknown) == 0 || second.found > first.found {
		return second.key
	}
	return first.key
}

// tally are the claims of sources.
type tally map[Source]*claim

func (t tally) add(key Source, found bool) {
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
		t.add(r.Source, Has(repo, r.Path))
	}
	return t
}

// claims are the sources that the Kustomizations and ArtifactGenerators below a folder name.
func claims(repo *repository.Repository, dir string) tally {
	all := tallyOf(repo, slices.DeleteFunc(rootsOf(Candidates(repo)), func(r Root) bool {
		return !repository.Within(dir, r.File) || r.Source.Kind == "ExternalArtifact"
	}))
	has := func(at string) bool { return Has(repo, at) }
	for _, o := range repo.ByKind(fluxapi.ArtifactGroup, "ArtifactGenerator") {
		sources := o.Lookup("spec", "sources")
		if sources == nil || !repository.Within(dir, o.File()) {
			continue
		}
		for i := range sources.Content {
			text := func(field string) string {
				value, _ := o.Text("spec", "sources", i, field)
				return value
			}
			all.add(Source{text("kind"), cmp.Or(text("namespace"), o.Namespace), text("name")}, slices.ContainsFunc(copiedFrom(o, text("alias")), has))
		}
	}
	return all
}

// Has reports whether a repository has a file or folder; the root folder is in every one.
func Has(repo *repository.Repository, at string) bool {
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
