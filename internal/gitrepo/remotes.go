package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Remotes are the addresses that a folder's own .git/config gives its remotes, sorted; those of
// folders on this machine are left out. There are none where the folder is no work tree's root, or
// has its .git elsewhere: nothing outside of the folder is read, so that a stranger's may be asked
// about.
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
		return nil // git itself cannot read it
	}
	var all []string
	for _, s := range c.raw.Sections {
		if !s.IsName("remote") {
			continue
		}
		for _, remote := range s.Subsections {
			for _, o := range remote.Options {
				if o.IsKey("url") && isAddress(o.Value) {
					all = append(all, o.Value)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// isAddress says whether the URL of a remote is that of a server, and not a path.
func isAddress(url string) bool {
	if scheme, _, ok := strings.Cut(url, "://"); ok {
		return scheme != "file"
	}
	host, _, ok := strings.Cut(url, ":") // as scp has it
	return ok && len(host) > 1 && !strings.ContainsAny(host, `/\`)
}
