package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
)

// mostAdvertised is the maximum size of the list of a repository's references, in bytes.
const mostAdvertised = 64 << 20

// gitServer returns the repository at an address. It calls alive whenever the server sends something.
func (c *client) gitServer(address string, alive func()) (gitrepo.UploadServer, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address is not valid")
	}
	if at.Scheme != "ssh" {
		return &gitOverHTTP{c: c, base: at, alive: alive}, nil
	}
	return gitrepo.OverSSH(at, func(ctx context.Context, network, to string) (net.Conn, error) {
		conn, err := c.guard.direct(ctx, network, to)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = conn.Close() })
		return watched{conn, alive}, nil
	}), nil
}

// watched is a connection that calls alive for each read.
type watched struct {
	net.Conn
	alive func()
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.alive()
	return n, err
}

// gitOverHTTP is a repository that is reached over HTTP(S).
type gitOverHTTP struct {
	c      *client
	base   *url.URL
	alive  func()
	bodies []io.Closer
}

// Advertise requests the references. If the server redirects, all other requests go to the new address.
func (g *gitOverHTTP) Advertise(ctx context.Context) (io.Reader, error) {
	answer, err := g.do(ctx, http.MethodGet, "/info/refs?service=git-upload-pack", nil)
	if err != nil {
		return nil, err
	}
	path, ok := strings.CutSuffix(answer.at.Path, "/info/refs")
	if !ok || answer.contentType != "application/x-git-upload-pack-advertisement" {
		return nil, fmt.Errorf("%s does not answer as a Git server", shown(answer.at))
	}
	g.base = &url.URL{Scheme: answer.at.Scheme, Host: answer.at.Host, Path: path}
	return limitedTo(counted{answer.body, g.alive}, mostAdvertised), nil
}

// Upload sends a request for objects.
func (g *gitOverHTTP) Upload(ctx context.Context, request []byte) (io.Reader, error) {
	answer, err := g.do(ctx, http.MethodPost, "/git-upload-pack", request)
	if err != nil {
		return nil, err
	}
	return counted{answer.body, g.alive}, nil
}

// httpAnswer is an answer of a server, and the address that it comes from. Close of the gitOverHTTP closes the body.
type httpAnswer struct {
	body        io.ReadCloser
	at          *url.URL
	contentType string
}

// Close closes the answers.
func (g *gitOverHTTP) Close() error {
	for _, body := range g.bodies {
		_ = body.Close()
	}
	return nil
}

// do sends a request, and repeats it with the credentials of git's credential helpers if the server requires some.
func (g *gitOverHTTP) do(ctx context.Context, method, path string, body []byte) (*httpAnswer, error) {
	user, password := g.c.netrc(g.base.Hostname())
	for first := true; ; first = false {
		req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(g.base.String(), "/")+path, bytes.NewReader(body))
		if err != nil {
			return nil, errors.New("the address is not valid")
		}
		req.Header.Set("User-Agent", "git/2.0 ("+userAgent()+")")
		if method == http.MethodPost {
			req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
			req.Header.Set("Accept", "application/x-git-upload-pack-result")
		}
		if user != "" {
			req.SetBasicAuth(user, password)
		}
		resp, err := g.c.http.Do(req) //nolint:bodyclose // Close closes the bodies of all answers
		if err != nil {
			return nil, err
		}
		g.bodies = append(g.bodies, resp.Body)
		g.alive()
		if resp.StatusCode == http.StatusOK {
			return &httpAnswer{resp.Body, resp.Request.URL, resp.Header.Get("Content-Type")}, nil
		}
		if resp.StatusCode == http.StatusUnauthorized && first && resp.Request.URL.Host == req.URL.Host {
			if user, password = g.c.helped(ctx, g.base); user != "" {
				continue
			}
		}
		return nil, fmt.Errorf("%s answers %d %s", shown(req.URL), resp.StatusCode, http.StatusText(resp.StatusCode))
	}
}

// helped returns the credentials that git's credential helpers have for an address. It asks them once.
func (c *client) helped(ctx context.Context, at *url.URL) (user, password string) {
	found, _ := c.helpers.do(at.String(), func() ([2]string, error) {
		user, password := gitrepo.Credential(ctx, at)
		return [2]string{user, password}, nil
	})
	return found[0], found[1]
}

// pinned is a commit, and the reference that leads to it, "" if none is known.
type pinned struct{ reference, commit string }

// sha1Prefix separates the reference and the commit in a revision of Flux.
const sha1Prefix = "sha1:"

// revision returns the revision in Flux's form: main@sha1:….
func (p pinned) revision() string {
	name := p.reference
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if name == "" {
		return sha1Prefix + p.commit
	}
	return name + "@" + sha1Prefix + p.commit
}

// resolveGit returns the commit of a source. If locked, the revision in the lock, is not "", it returns the locked commit, or an
// error if the tag leads to another commit now.
func resolveGit(u *gitrepo.Upstream, s chartref.Source, locked string) (pinned, error) {
	name, commit, _ := strings.Cut(locked, sha1Prefix)
	name = strings.TrimSuffix(name, "@")
	reference, err := referenceOf(u, s, name)
	if err != nil {
		return pinned{}, err
	}
	if s.Commit != "" {
		return pinned{reference, s.Commit}, nil
	}
	if reference == "" { // a commit, in kustomize's form
		return pinned{"", s.Ref}, nil
	}
	now, found := u.Commit(reference)
	switch {
	case !found:
		return pinned{}, fmt.Errorf("the repository has no %s", cmp.Or(strings.TrimPrefix(reference, "refs/"), reference))
	case locked == "":
		return pinned{reference, now}, nil
	case now != commit && strings.HasPrefix(reference, "refs/tags/"):
		return pinned{}, &MovedError{locked, pinned{reference, now}.revision()}
	}
	return pinned{reference, commit}, nil
}

// referenceOf returns the reference of a source, "" if the source names a commit. The name is the one in the lock, or "".
func referenceOf(u *gitrepo.Upstream, s chartref.Source, name string) (string, error) {
	switch {
	case s.Name != "":
		return s.Name, nil
	case s.Tag != "":
		return "refs/tags/" + s.Tag, nil
	case s.SemVer != "" && name != "":
		return "refs/tags/" + name, nil
	case s.SemVer != "":
		tag, err := pickGitTag(u.Tags(), s.SemVer)
		return "refs/tags/" + tag, err
	case s.Branch != "":
		return "refs/heads/" + s.Branch, nil
	case s.Commit != "":
		return "", nil
	}
	for _, prefix := range []string{"", "refs/", "refs/tags/", "refs/heads/"} {
		if _, ok := u.Commit(prefix + s.Ref); ok {
			return prefix + s.Ref, nil
		}
	}
	if len(s.Ref) == 40 {
		return "", nil
	}
	return "", fmt.Errorf("the repository has no branch and no tag %q", s.Ref)
}

// pickGitTag returns the tag that source-controller chooses for a range. Of two tags with the same version, source-controller
// chooses the one with the later commit, and pickGitTag the last by name. Source: github.com/fluxcd/pkg/git/gogit, cloneSemVer.
func pickGitTag(tags []string, constraint string) (string, error) {
	within, err := semver.NewConstraint(constraint)
	if err != nil {
		return "", fmt.Errorf("the range %q is not valid: %w", constraint, err)
	}
	slices.Sort(tags)
	best, highest := "", (*semver.Version)(nil)
	for _, tag := range tags {
		if v := parseVersion(tag); v != nil && within.Check(v) && (highest == nil || !v.LessThan(highest)) {
			best, highest = tag, v
		}
	}
	if best == "" {
		return "", fmt.Errorf("no tag matches %q", constraint)
	}
	return best, nil
}
