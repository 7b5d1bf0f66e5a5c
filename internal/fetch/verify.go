package fetch

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/lock"
)

// Bounds of the signatures of an artifact.
const (
	mostSignatures = 50
	mostPayload    = 64 << 10
)

const (
	signatureAnnotation = "dev.cosignproject.cosign/signature"
	bundleType          = "application/vnd.dev.sigstore.bundle"
)

// signature is a signature by cosign. Payload contains the digest of the signed manifest.
type signature struct {
	Payload   []byte `json:"payload"`
	Signature []byte `json:"signature"`
}

// proof is the part of a signed artifact that the cache keeps: its manifest, which names the archive, and the manifest's
// signatures.
type proof struct {
	Manifest   []byte      `json:"manifest"`
	Signatures []signature `json:"signatures"`
}

// errBundle says that an artifact has signatures in a form that is not supported.
var errBundle = errors.New("its signature is a bundle of Sigstore, which is not checked")

// signaturesOf downloads the signatures of a manifest. Source: github.com/sigstore/cosign/v2, specs/SIGNATURE_SPEC.md.
func signaturesOf(ctx context.Context, repo *remote.Repository, manifest string, alive func()) ([]signature, error) {
	described, body, err := repo.FetchReference(ctx, strings.Replace(manifest, ":", "-", 1)+".sig")
	if errors.Is(err, errdef.ErrNotFound) {
		return nil, bundled(ctx, repo, manifest)
	}
	if err != nil {
		return nil, err
	}
	text, err := readVerified(body, described, mostManifest, alive)
	if err != nil {
		return nil, err
	}
	var of ocispec.Manifest
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, errors.New("the manifest of its signatures is not valid")
	}
	var all []signature
	for _, layer := range of.Layers[:min(len(of.Layers), mostSignatures)] {
		made, err := base64.StdEncoding.DecodeString(layer.Annotations[signatureAnnotation])
		if err != nil || len(made) == 0 || layer.Size > mostPayload {
			continue
		}
		body, err := repo.Blobs().Fetch(ctx, layer)
		if err != nil {
			return nil, err
		}
		payload, err := readVerified(body, layer, mostPayload, alive)
		if err != nil {
			return nil, err
		}
		all = append(all, signature{payload, made})
	}
	return all, nil
}

// bundled returns errBundle if an artifact has a signature in the form of a Sigstore bundle, nil if it has none.
func bundled(ctx context.Context, repo *remote.Repository, manifest string) error {
	described, err := repo.Resolve(ctx, manifest)
	if err != nil {
		return err
	}
	found := false
	err = repo.Referrers(ctx, described, "", func(all []ocispec.Descriptor) error {
		found = found || slices.ContainsFunc(all, func(d ocispec.Descriptor) bool { return strings.HasPrefix(d.ArtifactType, bundleType) })
		return nil
	})
	if err == nil && found {
		err = errBundle
	}
	return err
}

// matching returns a signature of a manifest for each set of keys, by one of its keys, or an error if a set has none.
func matching(all []signature, manifest string, sets []string) ([]signature, error) {
	var good []signature
	for _, set := range sets {
		keys, err := publicKeys(set)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(all, func(s signature) bool {
			return s.names(manifest) && slices.ContainsFunc(keys, s.by)
		})
		if at < 0 {
			return nil, fmt.Errorf("no signature of %s matches the public keys in the repository", manifest)
		}
		good = append(good, all[at])
	}
	return good, nil
}

// names reports whether a signature is for a manifest.
func (s signature) names(manifest string) bool {
	var claim struct {
		Critical struct {
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
		} `json:"critical"`
	}
	return json.Unmarshal(s.Payload, &claim) == nil && claim.Critical.Image.Digest == manifest
}

// by reports whether a signature was created with a key.
func (s signature) by(key crypto.PublicKey) bool {
	sum := sha256.Sum256(s.Payload)
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, sum[:], s.Signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], s.Signature) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(key, s.Payload, s.Signature)
	}
	return false
}

// publicKeys parses keys in PEM.
func publicKeys(text string) ([]crypto.PublicKey, error) {
	var keys []crypto.PublicKey
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("a public key in the repository is not valid")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("a public key in the repository is not valid")
	}
	return keys, nil
}

// isVerified reports whether the cache has the proof that the keys signed the locked manifest, and that it names the locked
// archive.
func isVerified(in *cache.Cache, locked lock.Chart, sets []string) bool {
	data, err := in.Read(locked.Signature)
	var kept proof
	var of ocispec.Manifest
	if err != nil || json.Unmarshal(data, &kept) != nil || cache.Sum(kept.Manifest) != locked.Manifest || json.Unmarshal(kept.Manifest, &of) != nil {
		return false
	}
	_, err = matching(kept.Signatures, locked.Manifest, sets)
	return err == nil && slices.ContainsFunc(of.Layers, func(d ocispec.Descriptor) bool { return string(d.Digest) == locked.SHA256 })
}

// verified downloads and checks the signatures of a manifest, stores the proof in the cache, and returns the proof's digest.
func verified(ctx context.Context, repo *remote.Repository, manifest string, sets []string, in *cache.Cache, alive func()) (kept string, err error) {
	all, err := signaturesOf(ctx, repo, manifest, alive)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", errors.New("it is not signed")
	}
	if all, err = matching(all, manifest, sets); err != nil {
		return "", err
	}
	described, body, err := repo.FetchReference(ctx, manifest)
	if err != nil {
		return "", err
	}
	text, err := readVerified(body, described, mostManifest, alive)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(proof{text, all})
	if err != nil {
		return "", err
	}
	return in.Write(data)
}
