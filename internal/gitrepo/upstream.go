package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/fleetwright/fleetwright/internal/output"
)

// UploadServer is a remote repository that answers as git-upload-pack does. The implementation restricts the addresses,
// the amount of data, and the time.
type UploadServer interface {
	// Advertise returns the server's first message: its references.
	Advertise(ctx context.Context) (io.Reader, error)
	// Upload sends a request and returns the response.
	Upload(ctx context.Context, request []byte) (io.Reader, error)
	// Close closes the connection.
	Close() error
}

// Upstream is a remote repository whose references are known.
type Upstream struct {
	server     UploadServer
	advertised *packp.AdvRefs
}

// mostReferences is the maximum number of references of a remote repository.
const mostReferences = 200_000

// Contact asks a server for its references.
func Contact(ctx context.Context, server UploadServer) (*Upstream, error) {
	from, err := server.Advertise(ctx)
	if err != nil {
		return nil, err
	}
	u := &Upstream{server: server, advertised: packp.NewAdvRefs()}
	err = u.advertised.Decode(from)
	switch unexpected := (*packp.ErrUnexpectedData)(nil); {
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return nil, errors.New("the repository is empty")
	case errors.Is(err, packp.ErrEmptyInput), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the server ends the connection: the repository does not exist, or you may not read it")
	case errors.As(err, &unexpected), errors.Is(err, pktline.ErrInvalidPktLen):
		return nil, errors.New("the server does not answer as a Git server")
	case err != nil:
		return nil, err
	case len(u.advertised.References) > mostReferences:
		return nil, fmt.Errorf("the repository has more than %d references", mostReferences)
	}
	return u, nil
}

// Commit returns the commit of a reference, such as refs/heads/main; for an annotated tag, the commit that it points to.
func (u *Upstream) Commit(reference string) (commit string, ok bool) {
	if hash, ok := u.advertised.Peeled[reference]; ok {
		return hash.String(), true
	}
	if reference == "HEAD" && u.advertised.Head != nil {
		return u.advertised.Head.String(), true
	}
	hash, ok := u.advertised.References[reference]
	return hash.String(), ok
}

// Tags returns the names of the tags.
func (u *Upstream) Tags() []string {
	var tags []string
	for name := range u.advertised.References {
		if tag, ok := strings.CutPrefix(name, "refs/tags/"); ok {
			tags = append(tags, tag)
		}
	}
	return tags
}

// object returns the hash that the server lists for a reference.
func (u *Upstream) object(reference string) (plumbing.Hash, bool) {
	if reference == "HEAD" && u.advertised.Head != nil {
		return *u.advertised.Head, true
	}
	hash, ok := u.advertised.References[reference]
	return hash, ok
}

// request returns the request for a commit. reference is a branch or tag that may contain it, "" if unknown. If the server
// does not serve commits by hash, the request is for the whole reference, or for all branches and tags.
func (u *Upstream) request(commit, reference string) (*packp.UploadPackRequest, error) {
	r := packp.NewUploadPackRequest()
	for _, c := range []capability.Capability{capability.OFSDelta, capability.Sideband64k, capability.NoProgress} {
		if !u.advertised.Capabilities.Supports(c) {
			continue
		}
		if err := r.Capabilities.Set(c); err != nil {
			return nil, err
		}
	}
	now, _ := u.Commit(reference)
	tip, known := u.object(reference)
	byName := u.advertised.Capabilities.Supports(capability.AllowReachableSHA1InWant) || u.advertised.Capabilities.Supports("allow-any-sha1-in-want")
	switch {
	case known && now == commit:
		r.Wants = []plumbing.Hash{tip}
	case byName:
		r.Wants = []plumbing.Hash{plumbing.NewHash(commit)}
	case known:
		r.Wants = []plumbing.Hash{tip}
		return r, nil
	default:
		for name, hash := range u.advertised.References {
			if strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") {
				r.Wants = append(r.Wants, hash)
			}
		}
		return r, nil
	}
	if u.advertised.Capabilities.Supports(capability.Shallow) {
		r.Depth = packp.DepthCommits(1)
		return r, r.Capabilities.Set(capability.Shallow)
	}
	return r, nil
}

// pack requests the objects of a commit, and returns them as a pack.
func (u *Upstream) pack(ctx context.Context, commit, reference string) (io.Reader, error) {
	r, err := u.request(commit, reference)
	if err != nil {
		return nil, err
	}
	if len(r.Wants) == 0 {
		return nil, errors.New("the repository has no branch and no tag")
	}
	var text bytes.Buffer
	if err := r.UploadRequest.Encode(&text); err != nil {
		return nil, err
	}
	if err := pktline.NewEncoder(&text).EncodeString("done\n"); err != nil {
		return nil, err
	}
	answer, err := u.server.Upload(ctx, text.Bytes())
	if err != nil {
		return nil, err
	}
	response := packp.NewUploadPackResponse(r)
	if err := response.Decode(io.NopCloser(answer)); err != nil {
		return nil, fmt.Errorf("the server refuses: %s", output.Line(err.Error()))
	}
	if r.Capabilities.Supports(capability.Sideband64k) {
		return sideband.NewDemuxer(sideband.Sideband64k, response), nil
	}
	return response, nil
}
