package harness

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	ocispec "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A Signer signs artifacts as `cosign sign --key` does.
type Signer struct{ key *ecdsa.PrivateKey }

// NewSigner creates a key pair.
func NewSigner(t testing.TB) Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return Signer{key}
}

// PublicKey returns the public key in PEM, as in cosign.pub.
func (s Signer) PublicKey(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.key.Public())
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// PushArtifact does what `flux push artifact` and `cosign sign` do: it pushes the files to the
// oci:// address with the tag, and a signature of them.
func PushArtifact(t testing.TB, n *Internet, address, tag string, files map[string]string, signer Signer) {
	t.Helper()
	reference, err := name.NewTag(strings.TrimPrefix(address, "oci://") + ":" + tag)
	must(t, err)
	options := []remote.Option{
		remote.WithTransport(n.Transport()),
		remote.WithAuth(&authn.Basic{Username: "ci", Password: n.Grant(address)}),
	}
	image := image(t, "application/vnd.cncf.flux.config.v1+json", mutate.Addendum{
		Layer: static.NewLayer(Archive(t, files), "application/vnd.cncf.flux.content.v1.tar+gzip"),
	})
	must(t, remote.Write(reference, image, options...))
	digest, err := image.Digest()
	must(t, err)
	signature := reference.Context().Tag(strings.ReplaceAll(digest.String(), ":", "-") + ".sig")
	must(t, remote.Write(signature, signer.sign(t, reference, digest), options...))
}

// sign returns the image that contains a signature, in cosign's format:
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
func (s Signer) sign(t testing.TB, reference name.Tag, digest ocispec.Hash) ocispec.Image {
	t.Helper()
	payload, err := json.Marshal(map[string]any{
		"critical": map[string]any{
			"identity": map[string]any{"docker-reference": reference.Context().Name()},
			"image":    map[string]any{"docker-manifest-digest": digest.String()},
			"type":     "cosign container image signature",
		},
		"optional": nil,
	})
	must(t, err)
	sum := sha256.Sum256(payload)
	signature, err := s.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	must(t, err)
	return image(t, types.OCIConfigJSON, mutate.Addendum{
		Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)},
	})
}

func image(t testing.TB, config types.MediaType, layer mutate.Addendum) ocispec.Image {
	t.Helper()
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), config)
	image, err := mutate.Append(base, layer)
	must(t, err)
	return image
}

// Archive packs the files, in the order of their names.
func Archive(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	tape := tar.NewWriter(zip)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if target, ok := strings.CutPrefix(files[file], LinkTo); ok {
			must(t, tape.WriteHeader(&tar.Header{Name: file, Linkname: target, Typeflag: tar.TypeSymlink}))
			continue
		}
		must(t, tape.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(files[file])), Typeflag: tar.TypeReg}))
		_, err := tape.Write([]byte(files[file]))
		must(t, err)
	}
	must(t, tape.Close())
	must(t, zip.Close())
	return out.Bytes()
}
