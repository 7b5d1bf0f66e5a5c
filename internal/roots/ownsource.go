package roots

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// claim counts the objects that refer to a source, to decide whether it is the source of the repository itself.
type claim struct {
	key Source
	// named counts the objects that use files of the source, and found how many of these files and folders
	// exist in the repository. The root folder exists in every repository and does not count.
	named, found int
}

// isEvident reports whether several objects use files of the source, and all of these exist in the repository.
func (c *claim) isEvident() bool { return c.found == c.named && c.found >= 3 }

// ownSource returns the source of the repository itself, for a folder that no object in it syncs. It is the source
// to which most Kustomizations below the folder with existing paths refer; if several have the same number, one
// that no object in the repository defines. A GitRepository that an object defines must have the URL of a remote, if
// remotes are known, or evidence that the repository was renamed; otherwise, existing paths. ownSource returns the zero
// value if there is none.
func ownSource(namespaces namespaces, dir string, remotes []string) Source {
	var unknown, defined []*claim
	for _, c := range namespaces.claims(dir) {
		objects := namespaces.sources(c.key)
		switch {
		case len(objects) == 0:
			unknown = append(unknown, c)
		case c.key.Kind != "GitRepository":
		case len(remotes) > 0 && !c.isEvident() && !slices.ContainsFunc(objects, func(o *repository.Object) bool { return isOneOf(o, remotes) }):
		case len(remotes) == 0 && c.found == 0 && !namespaces.repo.Partial():
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

// tally maps sources to their claims.
type tally map[Source]*claim

func (t tally) add(key Source, found bool) {
	if t[key] == nil {
		t[key] = &claim{key: key}
	}
	if t[key].named++; found {
		t[key].found++
	}
}

// tallyOf returns the claims of the sources of Kustomizations.
func tallyOf(repo *repository.Repository, all []Root) tally {
	t := tally{}
	for _, r := range all {
		t.add(r.Source, Has(repo, r.Path))
	}
	return t
}

// claims returns the claims of the sources to which Kustomizations and ArtifactGenerators below a folder refer.
func (n namespaces) claims(dir string) tally {
	repo := n.repo
	all := tallyOf(repo, n.name(slices.DeleteFunc(rootsOf(Candidates(repo)), func(r Root) bool {
		return !repository.Within(dir, r.File) || r.Source.Kind == "ExternalArtifact"
	})))
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

// Has reports whether a repository has a file or folder. It returns false for the root folder, which exists in every
// repository.
func Has(repo *repository.Repository, at string) bool {
	_, isFolder := repo.ReadDir(at)
	return at != "." && (isFolder || repo.Exists(at))
}

// copiedFrom returns the files and folders that an ArtifactGenerator copies from a source; a
// pattern is cut at its first wildcard.
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

// isOneOf reports whether the repository name in a GitRepository's URL is that of a remote.
// The owner may differ: the remote may be a fork.
func isOneOf(o *repository.Object, remotes []string) bool {
	url, _ := o.Text("spec", "url")
	own := RepositoryAddress(url)
	return slices.ContainsFunc(remotes, func(remote string) bool {
		return path.Base(RepositoryAddress(remote)) == path.Base(own)
	})
}

// RepositoryAddress returns a Git URL without the parts that do not identify the repository: the protocol,
// the user, the port, a .git at the end and the case. The results for ssh://git@host/org/repo.git,
// git@host:org/repo and https://host/org/repo are equal.
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

// otherSyncs returns the Kustomizations that sync a whole other repository. If mayMirror is set, it returns none if there is only
// one and its GitRepository is a mirror of the repository.
func otherSyncs(namespaces namespaces, remotes []string, mayMirror bool) map[*repository.Object]bool {
	all := namespaces.name(rootsOf(namespaces.repo.ByKind(fluxapi.KustomizeGroup, "Kustomization")))
	others := map[*repository.Object]bool{}
	var last Root
	for _, r := range all {
		if r.syncsOther(namespaces.sources(r.Source), remotes) {
			others[r.Object], last = true, r
		}
	}
	if mayMirror && len(others) == 1 && last.isMirror(namespaces.repo, all) {
		return nil
	}
	return others
}

// syncsOther reports whether the root is the sync of a whole other Git repository: none of its sources has the name of a remote,
// and it is not in a folder as `flux bootstrap` creates it. The name of an artifact or bucket is not that of a repository.
func (r Root) syncsOther(sources []*repository.Object, remotes []string) bool {
	return r.isFluxSystem() && r.Path == "." && r.Source.Kind == "GitRepository" && len(remotes) > 0 && len(sources) > 0 &&
		path.Base(path.Dir(r.File)) != "flux-system" &&
		!slices.ContainsFunc(sources, func(s *repository.Object) bool { return isOneOf(s, remotes) })
}

// isMirror reports whether the root's source is the repository itself under another name: at least half of the paths that the
// other Kustomizations of the source name exist here, and none of another source syncs its own folder.
func (r Root) isMirror(repo *repository.Repository, all []Root) bool {
	named, found := 0, 0
	for _, k := range all {
		switch {
		case k.Path == ".":
		case k.Source == r.Source:
			if named++; Has(repo, k.Path) {
				found++
			}
		case repository.Within(k.Path, k.File):
			return false
		}
	}
	return found > 0 && found*2 >= named
}
