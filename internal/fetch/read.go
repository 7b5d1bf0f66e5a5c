package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"slices"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
)

const (
	// attempts is the maximum number of times that a download is started whose body ends too early.
	attempts = 3
	// mostManifest is the size of the largest manifest, in bytes.
	mostManifest = 4 << 20
)

// readAll reads at most that many bytes, and calls alive for each part.
func readAll(from io.Reader, most, announced int64, alive func()) ([]byte, error) {
	if announced > most {
		return nil, refused("the answer is larger than %d MB", most>>20)
	}
	data := make([]byte, 0, max(announced+1, 64<<10))
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := from.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		alive()
		switch {
		case int64(len(data)) > most:
			return nil, refused("the answer is larger than %d MB", most>>20)
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

// again repeats a download whose body ended too early.
func again(ctx context.Context, download func() error) error {
	for n := 1; ; n++ {
		err := download()
		var network *net.OpError
		broken := errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
		if _, no := isRefused(err); !broken || no || n == attempts {
			return err
		}
		select {
		case <-time.After(time.Duration(n) * 200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// limited returns an error if a reader returns more bytes than allowed.
type limited struct {
	from io.Reader
	left int64
	most int64
}

func limitedTo(from io.Reader, most int64) *limited { return &limited{from, most, most} }

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, refused("the answer is larger than %d MB", l.most>>20)
	}
	return n, err
}

// counted is a body that calls alive for each read.
type counted struct {
	from  io.Reader
	alive func()
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.alive()
	return n, err
}

// isManifest reports whether Flux may apply a file, by its extension.
func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// readVerified reads the content that a descriptor describes, and compares its digest.
func readVerified(body io.ReadCloser, d ocispec.Descriptor, most int64, alive func()) ([]byte, error) {
	defer func() { _ = body.Close() }()
	if d.Size > most || d.Size < 0 {
		return nil, refused("the answer is larger than %d MB", most>>20)
	}
	data, err := content.ReadAll(counted{body, alive}, d)
	if errors.Is(err, content.ErrMismatchedDigest) || errors.Is(err, content.ErrTrailingData) {
		return nil, fmt.Errorf("the server sends other content than %s", d.Digest)
	}
	return data, err
}
