package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Remotes returns the URLs of the remotes in a folder's own .git/config, sorted, without paths on this
// machine. It returns none if the folder is not the root of a work tree, or if its .git is a file: it
// reads nothing outside of the folder, so that it is safe for a stranger's work tree.
func Remotes(dir string) []string {
	git := filepath.Join(dir, ".git")
	file := filepath.Join(git, "config")
	if info, err := os.Lstat(git); err != nil || !info.IsDir() {
		return nil
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	c, err := readConfig(file)
	if err != nil {
		return nil // git itself cannot read it either
	}
	var all []string
	for _, remote := range c.remotes() {
		if isAddress(remote.url) {
			all = append(all, remote.url)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// namedRemote is the name of a remote, and one of its URLs.
type namedRemote struct{ name, url string }

// remotes returns the remotes of a configuration, in its order, each once for each URL.
func (c configFile) remotes() []namedRemote {
	var all []namedRemote
	for _, s := range c.raw.Sections {
		if !s.IsName("remote") {
			continue
		}
		for _, remote := range s.Subsections {
			for _, o := range remote.Options {
				if o.IsKey("url") {
					all = append(all, namedRemote{remote.Name, o.Value})
				}
			}
		}
	}
	return all
}

// isAddress reports whether the URL of a remote names a server, and not a path.
func isAddress(url string) bool {
	if scheme, _, ok := strings.Cut(url, "://"); ok {
		return scheme != "file"
	}
	host, _, ok := strings.Cut(url, ":") // scp-like
	return ok && len(host) > 1 && !strings.ContainsAny(host, `/\`)
}
