package strict

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// scpRemote is git's short form of an ssh URL: [user@]host:path.
var scpRemote = regexp.MustCompile(`^([A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):([^/\\].*|/.*)$`)

// CloneURL converts a git remote to a URL that Flux accepts, without a password. A folder becomes a
// file:// URL.
func CloneURL(remote string) string {
	switch {
	case remote == "":
		return ""
	case strings.Contains(remote, "://"):
		u, err := url.Parse(remote)
		if err != nil || !slices.Contains([]string{"https", "http", "ssh", "file"}, u.Scheme) {
			return ""
		}
		if u.Scheme != "ssh" {
			u.User = nil // otherwise a token would get into Git
		} else if u.User != nil {
			u.User = url.User(u.User.Username())
		}
		return u.String()
	case strings.HasPrefix(remote, "/"):
		return (&url.URL{Scheme: "file", Path: remote}).String()
	}
	if m := scpRemote.FindStringSubmatch(remote); m != nil {
		return "ssh://" + m[1] + m[2] + "/" + strings.TrimPrefix(m[3], "/")
	}
	return ""
}
