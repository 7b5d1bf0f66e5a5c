package gitrepo

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
)

// isURL reports whether a location is a URL or scp-like address (git@host:path) instead of a local path, as
// git's url_is_local_not_ssh does: a colon comes before the first slash.
func isURL(location string) bool {
	if strings.Contains(location, "://") {
		return true
	}
	if filepath.VolumeName(location) != "" {
		return false
	}
	before, _, found := strings.Cut(location, ":")
	return found && before != "" && !strings.Contains(before, "/")
}

// sshURL converts an scp-like address to an ssh:// URL, which Flux needs. It returns other locations unchanged.
func sshURL(location string) string {
	if strings.Contains(location, "://") || !isURL(location) {
		return location
	}
	host, path, _ := strings.Cut(location, ":")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "ssh://" + host + path
}

// Redact hides the password in a URL, for messages. It returns a location that is not a URL
// unchanged.
func Redact(location string) string {
	if !strings.Contains(location, "://") {
		return location
	}
	u, err := url.Parse(location)
	if err != nil {
		scheme, rest, _ := strings.Cut(location, "://")
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			rest = "xxxxx@" + rest[i+1:]
		}
		return scheme + "://" + rest
	}
	if u.User != nil && u.Scheme != "ssh" {
		if _, hasPassword := u.User.Password(); !hasPassword {
			u.User = url.User("xxxxx") // a user without a password is a token
		}
	}
	return u.Redacted()
}

// redacted is an error whose message does not contain secrets.
type redacted struct {
	err     error
	secrets []string
}

func (r redacted) Error() string {
	text := r.err.Error()
	for _, s := range r.secrets {
		text = strings.ReplaceAll(text, s, "xxxxx")
	}
	return text
}

func (r redacted) Unwrap() error { return r.err }

// endpoint is a remote's URL and its credentials.
type endpoint struct {
	// url is without a password; shown is for messages.
	url, shown string
	auth       transport.AuthMethod
	secrets    []string
}

// hide removes the credentials from an error's message.
func (e endpoint) hide(err error) error {
	if err == nil {
		return nil
	}
	return redacted{err: err, secrets: e.secrets}
}

// newEndpoint checks a URL and finds its credentials: those in the URL, then
// FLEETWRIGHT_GIT_USERNAME with FLEETWRIGHT_GIT_PASSWORD or FLEETWRIGHT_GIT_TOKEN for https (and
// http on this machine). ssh uses the agent.
func newEndpoint(location string, env func(string) string) (endpoint, error) {
	shown := Redact(location)
	if !strings.Contains(location, "://") {
		// It is not converted to ssh://, because the path is relative to the user's home folder
		// there. git runs a program for "helper::address".
		if strings.Contains(location, "::") || strings.HasPrefix(location, "-") {
			return endpoint{}, fmt.Errorf("%q is not a URL of a repository: want file, https, http, ssh or git@host:path", shown)
		}
		return endpoint{url: location, shown: shown}, nil
	}
	u, err := url.Parse(location)
	if err != nil {
		return endpoint{}, fmt.Errorf("%q is not a URL of a repository", shown)
	}
	e := endpoint{url: u.String(), shown: shown}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return endpoint{}, fmt.Errorf("%q: want file:///absolute/path", shown)
		}
		e.url = "file://" + u.Path
		return e, nil
	case "ssh":
		if u.Hostname() == "" {
			return endpoint{}, fmt.Errorf("%q names no host", shown)
		}
		return e, nil
	case "https", "http":
		return e.withBasicAuth(u, env)
	}
	return endpoint{}, fmt.Errorf("%q has the scheme %q, want file, https, http or ssh", shown, u.Scheme)
}

func (e endpoint) withBasicAuth(u *url.URL, env func(string) string) (endpoint, error) {
	if u.Hostname() == "" {
		return endpoint{}, fmt.Errorf("%q names no host", e.shown)
	}
	user, password := "", ""
	if u.User != nil {
		user = u.User.Username()
		if text, ok := u.User.Password(); ok {
			password = text
		} else {
			user, password = "", user // a user without a password is a token
		}
		e.secrets = append(e.secrets, u.User.String())
	} else if u.Scheme == "https" || loopback(u.Hostname()) {
		user = env("FLEETWRIGHT_GIT_USERNAME")
		password = first(env("FLEETWRIGHT_GIT_PASSWORD"), env("FLEETWRIGHT_GIT_TOKEN"))
	}
	u.User = nil
	e.url = u.String()
	if password == "" {
		return e, nil
	}
	e.secrets = append(e.secrets, password, url.QueryEscape(password), url.PathEscape(password))
	e.secrets = slices.DeleteFunc(e.secrets, func(s string) bool { return len(s) < 3 })
	// Servers that take tokens accept any user name; an empty one is refused.
	e.auth = &http.BasicAuth{Username: first(user, "git"), Password: password}
	return e, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// RemoteURL returns the URL of the remote "origin" (or of the only remote) in the repository of a folder. An scp-like
// address becomes ssh://, and a password is removed. It returns false if no such remote exists.
func RemoteURL(dir string) (string, bool) {
	root, ok := Root(dir)
	if !ok {
		return "", false
	}
	l, err := findLayout(root)
	if err != nil {
		return "", false
	}
	name, ok := l.remoteName()
	if !ok {
		return "", false
	}
	location := l.remoteLocation(name)
	u, err := url.Parse(sshURL(location))
	if err != nil {
		return "", false
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		u.User = nil
		return u.String(), true
	}
	return sshURL(location), true
}

// remoteName returns "origin", or the name of the only remote.
func (l layout) remoteName() (string, bool) {
	var names []string
	for _, s := range l.config.raw.Sections {
		if !s.IsName("remote") {
			continue
		}
		for _, ss := range s.Subsections {
			if len(l.config.sub("remote", ss.Name, "url")) > 0 && !slices.Contains(names, ss.Name) {
				names = append(names, ss.Name)
			}
		}
	}
	if slices.Contains(names, "origin") {
		return "origin", true
	}
	if len(names) == 1 {
		return names[0], true
	}
	return "", false
}

// remoteLocation returns the first URL of a remote; a relative path becomes absolute.
func (l layout) remoteLocation(name string) string {
	return l.remoteValue(name, "url")
}

// remotePushLocation returns the URL for pushes: the remote's pushurl, if it has one.
func (l layout) remotePushLocation(name string) string {
	return first(l.remoteValue(name, "pushurl"), l.remoteLocation(name))
}

func (l layout) remoteValue(name, key string) string {
	urls := l.config.sub("remote", name, key)
	if len(urls) == 0 {
		return ""
	}
	if isURL(urls[0]) {
		return urls[0]
	}
	return resolveIn(first(l.work, l.git), urls[0])
}
