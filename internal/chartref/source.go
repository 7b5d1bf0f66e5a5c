package chartref

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// The kinds of sources.
const (
	Git  = "git"
	OCI  = "oci"
	File = "file" // a file over HTTP(S)
	// Bucket is a bucket of an S3 server.
	Bucket = "bucket"
)

// Source is a request for the files of a source, from a Kustomization or HelmRelease. Equal Sources get the same files.
type Source struct {
	// Kind is Git, OCI, File or Bucket.
	Kind string
	// URL is the address of a repository or file, without a / at its end.
	URL string
	// For Git, one of Commit, Name, Tag, SemVer and Branch is set, or Ref: a branch, tag or commit as git fetch accepts it, or
	// "HEAD" for the default branch. A commit may be on a Branch. For OCI, one of Digest, SemVer and Tag is set.
	Branch, Tag, SemVer, SemVerFilter, Name, Commit, Ref, Digest string
	// MediaType selects the layer of an artifact; "" is the first. Copy says that the layer is used unchanged: no file in it is
	// ignored.
	MediaType string
	Copy      bool
	// Prefix and Region of a Bucket.
	Prefix, Region string
	// Insecure says that the registry is reached over plain HTTP.
	Insecure bool
	// Submodules says that the submodules of a repository are part of it.
	Submodules bool
	// Sparse are the folders of a repository that are used, one per line; "" is the whole repository.
	Sparse string
	// Ignore is spec.ignore.
	Ignore string
	// Whole says that no file is ignored: kustomize clones the repository.
	Whole bool
}

// Host returns the host of the source, with the port if the address has one.
func (s Source) Host() string { return Ask{URL: s.URL}.Host() }

// Short returns the address without its scheme, and without .git at its end.
func (s Source) Short() string {
	address, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	return address.Host + strings.TrimSuffix(address.Path, ".git")
}

// Wants returns the requested revision in words.
func (s Source) Wants() string {
	switch {
	case s.Kind == OCI:
		return Ask{SemVer: s.SemVer, SemVerFilter: s.SemVerFilter, Tag: s.Tag, Digest: s.Digest}.Wants()
	case s.Kind == File:
		return "the file"
	case s.Kind == Bucket && s.Prefix != "":
		return "prefix " + s.Prefix
	case s.Kind == Bucket:
		return "the bucket"
	case s.Commit != "":
		return "commit " + s.Commit
	case s.Name != "":
		return s.Name
	case s.Tag != "":
		return "tag " + s.Tag
	case s.SemVer != "":
		return "semver " + s.SemVer
	case s.Ref != "":
		return "ref " + s.Ref
	}
	return "branch " + s.Branch
}

func (s Source) String() string { return s.Kind + " " + s.URL + ", " + s.Wants() }

// CompareSources orders sources by address and then by the requested revision.
func CompareSources(a, b Source) int {
	return cmp.Or(cmp.Compare(a.Short(), b.Short()), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Wants(), b.Wants()),
		cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.MediaType, b.MediaType), boolean(a.Copy)-boolean(b.Copy),
		boolean(a.Insecure)-boolean(b.Insecure), boolean(a.Submodules)-boolean(b.Submodules), cmp.Compare(a.Sparse, b.Sparse),
		cmp.Compare(a.Ignore, b.Ignore), boolean(a.Whole)-boolean(b.Whole), cmp.Compare(a.Region, b.Region))
}

// mostIgnore is the maximum size of spec.ignore and spec.sparseCheckout in the lock, in bytes.
const mostIgnore = 16 << 10

// FromGitRepository returns the source of a GitRepository, without its spec.include. The error is the reason why it cannot be
// fetched. Of several references, source-controller uses the commit, then the name, the tag, the range and the branch.
func FromGitRepository(repository map[string]any) (Source, error) {
	address, err := checkGit(text(repository, "spec", "url"))
	if err != nil {
		return Source{}, err
	}
	s := Source{Kind: Git, URL: address, Ignore: text(repository, "spec", "ignore")}
	ref := func(name string) string { return text(repository, "spec", "ref", name) }
	switch {
	case ref("commit") != "":
		s.Commit, s.Branch = ref("commit"), ref("branch")
	case ref("name") != "":
		s.Name = ref("name")
	case ref("tag") != "":
		s.Tag = ref("tag")
	case ref("semver") != "":
		s.SemVer = ref("semver")
	default:
		s.Branch = cmp.Or(ref("branch"), "master")
	}
	s.Submodules, _ = field(repository, "spec", "recurseSubmodules").(bool)
	folders, _ := field(repository, "spec", "sparseCheckout").([]any)
	for _, f := range folders {
		folder, _ := f.(string)
		s.Sparse += path.Clean(folder) + "\n"
	}
	return s, s.plain()
}

// FromArtifact returns the source of an OCIRepository whose artifact contains files. The error is the reason why it cannot
// be fetched.
func FromArtifact(repository map[string]any) (Source, error) {
	a, err := FromOCIRepository(repository)
	if err != nil {
		return Source{}, err
	}
	s := Source{Kind: OCI, URL: a.URL, Tag: a.Tag, SemVer: a.SemVer, SemVerFilter: a.SemVerFilter, Digest: a.Digest, MediaType: a.MediaType, Insecure: a.Insecure}
	if s.Copy = text(repository, "spec", "layerSelector", "operation") == "copy"; !s.Copy {
		s.Ignore = text(repository, "spec", "ignore")
	}
	return s, s.plain()
}

// Artifact returns the request for the artifact in the registry.
func (s Source) Artifact() Ask {
	return Ask{URL: s.URL, Tag: s.Tag, SemVer: s.SemVer, SemVerFilter: s.SemVerFilter, Digest: s.Digest, MediaType: s.MediaType, Insecure: s.Insecure}
}

// Holds reports whether a file is in a folder of the repository that is used.
func (s Source) Holds(file string) bool {
	if s.Sparse == "" {
		return true
	}
	for folder := range strings.Lines(s.Sparse) {
		if folder = strings.TrimSuffix(folder, "\n"); folder == "." || file == folder || strings.HasPrefix(file, folder+"/") {
			return true
		}
	}
	return false
}

func (s Source) plain() error {
	if len(s.Ignore)+len(s.Sparse) > mostIgnore {
		return fmt.Errorf("spec.ignore and spec.sparseCheckout are larger than %d KB", mostIgnore>>10)
	}
	return plain(s.Branch, s.Tag, s.SemVer, s.Name, s.Commit, s.Ref, s.Prefix, s.Region, strings.ReplaceAll(s.Sparse, "\n", ""))
}

// checkGit returns the address of a Git repository without a / at its end.
func checkGit(address string) (string, error) {
	if err := plain(address); err != nil {
		return "", err
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || parsed.Opaque != "" || strings.HasPrefix(parsed.Hostname(), "-") {
		return "", fmt.Errorf("the address is not valid")
	}
	_, hasPassword := parsed.User.Password()
	switch {
	case !slices.Contains([]string{"https", "http", "ssh"}, parsed.Scheme):
		return "", fmt.Errorf("the scheme %q is not https, http or ssh", parsed.Scheme)
	case hasPassword || parsed.User != nil && parsed.Scheme != "ssh":
		return "", fmt.Errorf("the address contains credentials; keep them in your .netrc or git's credential helper")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return "", fmt.Errorf("the address has a query or a fragment")
	}
	return strings.TrimRight(address, "/"), nil
}
