package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/revlist"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"

	"github.com/fleetwright/fleetwright/internal/output"
)

// remote is a remote repository that commits are pushed to.
type remote struct {
	fetch, push endpoint
	// name is the name of the configured remote, empty for a URL.
	name string
	// head is the branch's commit in the remote when it was read; "" if the branch does not exist.
	head string
	// fallback is the branch that HEAD points to in the remote (a full name).
	fallback string
}

// newRemote returns the remote at a URL, or a configured remote of a repository.
func newRemote(fetch, push, name string, env func(string) string) (*remote, error) {
	r := &remote{name: name}
	var err error
	if r.fetch, err = newEndpoint(fileURL(fetch), env); err != nil {
		return nil, err
	}
	r.push, err = newEndpoint(fileURL(push), env)
	return r, err
}

// fileURL converts the path of a configured remote to a URL.
func fileURL(location string) string {
	if isURL(location) {
		return location
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(location)}).String()
}

// objectsOnly is an object store that stores fetched objects but not the references, which go-git
// would write directly.
type objectsOnly struct {
	objects
	got map[plumbing.ReferenceName]plumbing.Hash
}

func (s objectsOnly) SetReference(r *plumbing.Reference) error {
	s.got[r.Name()] = r.Hash()
	return nil
}

func (s objectsOnly) CheckAndSetReference(r, _ *plumbing.Reference) error { return s.SetReference(r) }

// fetchedRef is the reference under which objectsOnly receives a fetched branch.
const fetchedRef = "refs/fleetwright/fetched"

// load fetches the head of a branch into the store. If the branch doesn't exist and fallback is
// set, it fetches the remote's default branch instead, and returns its commit as base.
func (r *remote) load(ctx context.Context, store objects, ref string, depth int, fallback bool) (base string, err error) {
	refs, err := r.list(ctx, store)
	if err != nil {
		return "", err
	}
	byName := map[string]*plumbing.Reference{}
	for _, x := range refs {
		byName[x.Name().String()] = x
	}
	if head := byName["HEAD"]; head != nil && head.Type() == plumbing.SymbolicReference {
		r.fallback = head.Target().String()
	}
	if ref == "" {
		ref = r.fallback
	}
	if x := byName[ref]; x != nil {
		r.head, err = r.get(ctx, store, ref, x.Hash(), depth)
		return r.head, err
	}
	if x := byName[r.fallback]; x != nil && fallback {
		return r.get(ctx, store, r.fallback, x.Hash(), depth)
	}
	return "", nil
}

func (r *remote) list(ctx context.Context, store objects) ([]*plumbing.Reference, error) {
	rem := gogit.NewRemote(store, &config.RemoteConfig{Name: "origin", URLs: []string{r.fetch.url}})
	refs, err := rem.ListContext(ctx, &gogit.ListOptions{Auth: r.fetch.auth})
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil, nil
	}
	return refs, r.fetch.explain("reading", err)
}

// get fetches one branch. The branch may have moved since it was listed.
func (r *remote) get(ctx context.Context, store objects, ref string, want plumbing.Hash, depth int) (string, error) {
	if _, err := object.GetCommit(store, want); err == nil {
		return want.String(), nil
	}
	sink := objectsOnly{objects: store, got: map[plumbing.ReferenceName]plumbing.Hash{}}
	rem := gogit.NewRemote(sink, &config.RemoteConfig{Name: "origin", URLs: []string{r.fetch.url}})
	err := rem.FetchContext(ctx, &gogit.FetchOptions{
		Auth: r.fetch.auth, Depth: depth, Tags: gogit.NoTags,
		RefSpecs: []config.RefSpec{config.RefSpec("+" + ref + ":" + fetchedRef)},
	})
	if err != nil && !errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return "", r.fetch.explain("fetching", err)
	}
	got, ok := sink.got[fetchedRef]
	if !ok {
		return "", fmt.Errorf("%s: the remote returned no commit for %q", r.fetch.shown, ref)
	}
	return got.String(), nil
}

// explain adds to an error how to fix the common failures of a transport.
func (e endpoint) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		hint = ": set FLEETWRIGHT_GIT_USERNAME and FLEETWRIGHT_GIT_PASSWORD (or FLEETWRIGHT_GIT_TOKEN)"
	case strings.Contains(err.Error(), "SSH_AUTH_SOCK"):
		hint = ": start an ssh-agent and add the key with ssh-add"
	case strings.HasPrefix(e.url, "file:") && strings.Contains(err.Error(), "executable file not found"):
		hint = ": a file:// remote is served by git, which is not on PATH: name the repository by its path instead"
	}
	return e.hide(fmt.Errorf("%s %s: %w%s", doing, e.shown, err, hint))
}

// maxServerText is the maximum length of a remote's message in an error, in bytes.
const maxServerText = 4096

// send pushes a commit to a branch that must still be at r.head. It does not send objects of the
// remote's other branches again.
func (r *remote) send(ctx context.Context, store objects, ref, commit string) (err error) {
	session, err := openReceive(r.push)
	if err != nil {
		return r.push.explain("pushing to", err)
	}
	defer func() { err = errors.Join(err, r.push.hide(ignoreClosed(session.Close()))) }()
	adv, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return r.push.explain("pushing to", err)
	}
	if now := adv.References[ref]; now != r.expected() {
		return fmt.Errorf("%w by %s: branch %q moved from %s to %s there: run again",
			ErrRejected, r.push.shown, shortRef(ref), shortHash(r.head), shortHash(now.String()))
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(adv.Capabilities)
	request.Commands = []*packp.Command{{Name: plumbing.ReferenceName(ref), Old: r.expected(), New: plumbing.NewHash(commit)}}
	said := &boundedText{}
	if adv.Capabilities.Supports(capability.Sideband64k) {
		if err := request.Capabilities.Set(capability.Sideband64k); err != nil {
			return err
		}
		request.Progress = said
	}
	hashes, err := newObjects(store, adv, commit)
	if err != nil {
		return err
	}
	packed, w := io.Pipe()
	request.Packfile = packed
	go func() {
		_, err := packfile.NewEncoder(w, store, !adv.Capabilities.Supports(capability.OFSDelta)).Encode(hashes, 0)
		_ = w.CloseWithError(err)
	}()
	report, err := session.ReceivePack(ctx, request)
	_ = packed.Close()
	return r.verdict(ref, report, err, said.String())
}

func (r *remote) expected() plumbing.Hash { return plumbing.NewHash(r.head) }

// verdict converts a remote's answer to an error.
func (r *remote) verdict(ref string, report *packp.ReportStatus, err error, said string) error {
	if said != "" {
		said = "\n" + said
	}
	if report != nil {
		for _, c := range report.CommandStatuses {
			if c.Status != "ok" {
				return r.push.hide(fmt.Errorf("%w by %s: branch %q: %s%s", ErrRejected, r.push.shown, shortRef(ref), output.Line(c.Status), said))
			}
		}
		if err == nil {
			err = report.Error()
		}
	}
	if err != nil {
		return r.push.explain("pushing to", fmt.Errorf("%w%s", err, said))
	}
	return nil
}

func openReceive(e endpoint) (transport.ReceivePackSession, error) {
	ep, err := transport.NewEndpoint(e.url)
	if err != nil {
		return nil, err
	}
	c, err := client.NewClient(ep)
	if err != nil {
		return nil, err
	}
	return c.NewReceivePackSession(ep, e.auth)
}

// ignoreClosed drops the error from closing a session that the server already ended.
func ignoreClosed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// newObjects returns the objects of a commit that the remote lacks.
func newObjects(store objects, adv *packp.AdvRefs, commit string) ([]plumbing.Hash, error) {
	haves := make([]plumbing.Hash, 0, len(adv.References))
	for _, h := range adv.References {
		if h.String() == commit {
			return nil, nil // another branch has the commit: nothing to send
		}
		haves = append(haves, h)
	}
	shallow, err := store.Shallow()
	if err != nil {
		return nil, err
	}
	return revlist.Objects(store, []plumbing.Hash{plumbing.NewHash(commit)}, append(haves, shallow...))
}

// boundedText collects a server's messages about a push, up to maxServerText.
type boundedText struct{ buf bytes.Buffer }

func (b *boundedText) Write(p []byte) (int, error) {
	b.buf.Write(p[:min(len(p), max(0, maxServerText-b.buf.Len()))])
	return len(p), nil
}

func (b *boundedText) String() string {
	var lines []string
	for line := range strings.Lines(b.buf.String()) {
		if line = strings.TrimSpace(output.Line(line)); line != "" {
			lines = append(lines, "remote: "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// isAncestor reports whether a commit is in the history of another. The history of a shallow clone
// ends where the clone does.
func isAncestor(store objects, old, young string) (bool, error) {
	return isAncestorWithin(store, old, young, math.MaxInt)
}

// isAncestorWithin is isAncestor, but it searches at most a number of commits.
func isAncestorWithin(store objects, old, young string, most int) (bool, error) {
	shallow, err := store.Shallow()
	if err != nil {
		return false, err
	}
	seen := map[plumbing.Hash]bool{}
	for _, h := range shallow {
		seen[h] = true
	}
	wanted := plumbing.NewHash(old)
	for queue := []plumbing.Hash{plumbing.NewHash(young)}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == wanted {
			return true, nil
		}
		if len(seen) > most {
			break
		}
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		c, err := store.commit(queue[0].String())
		if err != nil {
			return false, err
		}
		queue = append(queue, c.ParentHashes...)
	}
	return false, nil
}
