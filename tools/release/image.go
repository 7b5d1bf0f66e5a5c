package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// accounts are the user accounts in the image: its own user, and nobody, which kpt and kustomize use.
const accounts = "root:x:0:0:root:/:/sbin/nologin\nfleetwright:x:65532:65532:fleetwright:/tmp:/sbin/nologin\nnobody:x:65534:65534:nobody:/tmp:/sbin/nologin\n"

// writeImage writes an OCI layout with an image for each Linux platform.
func writeImage(ctx context.Context, dir string, r *release, src *source, artifacts []artifact) error {
	roots, err := rootCertificates(ctx, src)
	if err != nil {
		return err
	}
	licence, err := roots.licences()
	if err != nil {
		return err
	}
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, a := range artifacts {
		if a.os != "linux" {
			continue
		}
		a.licences = slices.Concat(a.licences, licence)
		image, err := imageOf(r, src, a)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: a.os, Architecture: a.arch}}})
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version}))
}

// imageOf returns the image for one platform: the executable, user accounts and root certificates. It has no
// shell, and only /tmp is writable.
func imageOf(r *release, src *source, a artifact) (v1.Image, error) {
	binary, err := os.ReadFile(a.binary)
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(src.dir, "LICENSE"))
	if err != nil {
		return nil, err
	}
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	size := 0
	for _, files := range [][]file{
		{
			{"etc/", 0o755, nil}, {"etc/group", 0o644, []byte("root:x:0:\nfleetwright:x:65532:\nnobody:x:65534:\n")}, {"etc/passwd", 0o644, []byte(accounts)},
			{"etc/ssl/", 0o755, nil}, {"etc/ssl/certs/", 0o755, nil}, {"etc/ssl/certs/ca-certificates.crt", 0o644, roots.Bytes()},
			{"tmp/", 0o777 | os.ModeSticky, nil},
		},
		{
			{"usr/", 0o755, nil}, {"usr/bin/", 0o755, nil}, {"usr/bin/fleetwright", 0o755, binary},
			{"usr/share/", 0o755, nil}, {"usr/share/doc/", 0o755, nil}, {"usr/share/doc/fleetwright/", 0o755, nil},
			{"usr/share/doc/fleetwright/LICENSE", 0o644, licence}, {"usr/share/doc/fleetwright/THIRD_PARTY_LICENSES", 0o644, a.licences},
		},
	} {
		var content bytes.Buffer
		if err := writeTar(&content, src.time, files); err != nil {
			return nil, err
		}
		size += content.Len()
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(content.Bytes())), nil
		}, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, err
		}
	}
	if err := within("the image for "+a.arch, size, mostImage); err != nil {
		return nil, err
	}
	return configured(image, r, src, a)
}

// configured returns the image with its configuration and labels.
func configured(image v1.Image, r *release, src *source, a artifact) (v1.Image, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = a.os, a.arch, v1.Time{Time: src.time}
	config.Config = v1.Config{
		// Without arguments it runs the KRM functions, as kpt and kustomize expect.
		Entrypoint: []string{"/usr/bin/fleetwright"}, Cmd: []string{"fn"},
		User: "65532:65532", WorkingDir: "/tmp", Env: []string{"PATH=/usr/bin", "HOME=/tmp"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "fleetwright", "org.opencontainers.image.version": r.number(),
			"org.opencontainers.image.revision": src.revision, "org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source": "https://github.com/fleetwright/fleetwright",
		},
	}
	for i := range config.History {
		config.History[i] = v1.History{Created: config.Created, CreatedBy: "tools/release"}
	}
	return mutate.ConfigFile(image, config)
}

// push copies the image from a release folder to a registry, with the credentials of docker or podman, and
// prints its reference by digest.
func push(ctx context.Context, from, to string) error {
	ref, err := name.ParseReference(to)
	if err != nil {
		return err
	}
	index, err := layout.ImageIndexFromPath(from + "/image")
	if err != nil {
		return err
	}
	outer, err := index.IndexManifest()
	if err != nil {
		return err
	}
	if len(outer.Manifests) != 1 {
		return errors.New("the layout holds not one image")
	}
	image, err := index.ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(ref, image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return err
	}
	fmt.Println(ref.Context().Digest(outer.Manifests[0].Digest.String()))
	return nil
}

// serveRegistry runs an in-memory registry for tests.
func serveRegistry(ctx context.Context, listen string) error {
	return serve(ctx, listen, registry.New(registry.Logger(log.New(io.Discard, "", 0))))
}

// serveFolder serves a release folder over HTTP, for tests.
func serveFolder(ctx context.Context, listen, dir string) error {
	return serve(ctx, listen, http.FileServer(http.Dir(dir)))
}

// serve prints the address on which it listens, and runs until the context ends.
func serve(ctx context.Context, listen string, h http.Handler) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
