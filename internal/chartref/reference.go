package chartref

import (
	"cmp"
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FromReference reads an entry of a kustomization that kustomize fetches, and returns the source and the path in it. folder says
// that the entry may name a folder of a Git repository, and not only a file. The error is the reason why it cannot be fetched.
//
// The source of the facts is sigs.k8s.io/kustomize/api v0.21, internal/git and internal/target. Kustomize first tries to
// download an address as a file; FromReference recognises a file by its name instead.
func FromReference(ref string, folder bool) (s Source, at string, err error) {
	if err := plain(ref); err != nil {
		return Source{}, "", err
	}
	if folder && !namesFile(ref) {
		return fromClone(ref)
	}
	address, err := check(ref)
	if err != nil {
		return Source{}, "", err
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "oci" || strings.Trim(parsed.Path, "/") == "" {
		return Source{}, "", errors.New("the address does not name a file")
	}
	return Source{Kind: File, URL: address}, path.Base(address), nil
}

// namesFile reports whether an address is that of a manifest, and not of a folder in a Git repository.
func namesFile(ref string) bool {
	address, err := url.Parse(ref)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || strings.Contains(address.Path, "//") {
		return false
	}
	query := address.Query()
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(address.Path)) && !query.Has("ref") && !query.Has("version")
}

// fromClone reads an entry that names a Git repository.
func fromClone(ref string) (s Source, at string, err error) {
	rest, query, _ := strings.Cut(ref, "?")
	server, rest, err := cutServer(rest)
	if err != nil {
		return Source{}, "", err
	}
	repository, folder, err := cutRepository(rest)
	if err != nil {
		return Source{}, "", err
	}
	address, err := checkGit(server + "/" + repository)
	if err != nil {
		return Source{}, "", err
	}
	if at = path.Clean(strings.TrimLeft(folder, "/")); at == ".." || strings.HasPrefix(at, "../") {
		return Source{}, "", errors.New("the path leads out of the repository")
	}
	s = Source{Kind: Git, URL: address, Ref: "HEAD", Submodules: true, Whole: true}
	if values, err := url.ParseQuery(query); err == nil {
		s.Ref = cmp.Or(values.Get("ref"), values.Get("version"), s.Ref)
		if with, err := strconv.ParseBool(values.Get("submodules")); err == nil {
			s.Submodules = with
		}
	}
	return s, at, s.plain()
}

// user matches the user at the beginning of a server's address.
var user = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// cutServer splits an address into the server, as scheme://host, and the path.
func cutServer(ref string) (server, rest string, err error) {
	rest, _ = cutFold(ref, "git::")
	scheme := ""
	for _, prefix := range []string{"ssh://", "https://", "http://", "file://"} {
		if after, found := cutFold(rest, prefix); found {
			scheme, rest = prefix, after
			break
		}
	}
	name := user.FindString(rest)
	rest = rest[len(name):]
	_, slash := cutFold(rest, "github.com/")
	_, colon := cutFold(rest, "github.com:")
	scp := scheme == "" && (name != "" || slash || colon)
	switch {
	case scheme == "file://":
		return "", "", errors.New("the address names a local folder")
	case scheme == "" && !scp:
		return "", "", errors.New("the address has no scheme")
	}
	end := strings.IndexByte(rest, '/')
	if i := strings.IndexByte(rest, ':'); scp && i > 0 && (end < 0 || i < end) {
		end = i
	}
	if end <= 0 {
		return "", "", errors.New("the address has no host")
	}
	host, rest := rest[:end], rest[end+1:]
	switch {
	case (slash || colon) && scheme != "ssh://" && name == "":
		return "https://github.com", rest, nil // with any scheme
	case slash || colon:
		return "ssh://" + cmp.Or(name, "git@") + "github.com", rest, nil
	case scheme == "":
		scheme = "ssh://"
	}
	return scheme + name + host, rest, nil
}

// cutRepository splits a path into the path of the repository and the path in it.
func cutRepository(rest string) (repository, folder string, err error) {
	const azure, suffix = "_git/", ".git"
	if before, after, found := strings.Cut(rest, azure); found {
		name, folder, _ := strings.Cut(after, "/")
		return before + azure + name, folder, nil
	}
	if before, after, found := strings.Cut(rest, "//"); found {
		return before, after, nil
	}
	if before, after, found := strings.Cut(rest, suffix); found {
		return before + suffix, after, nil
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return "", "", errors.New("the address names no repository")
	}
	return parts[0] + "/" + parts[1], strings.Join(parts[2:], "/"), nil
}

// cutFold removes a prefix, ignoring its case.
func cutFold(s, prefix string) (rest string, found bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}
