package fetchtest

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
)

// PublicKey returns the public key of a signer in PEM.
func PublicKey(t testing.TB, key crypto.Signer) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// Sign signs a manifest as cosign does, with each key; claim is the manifest that the signatures name.
func (s *Server) Sign(t testing.TB, repository, manifest, claim string, keys ...crypto.Signer) {
	t.Helper()
	payload := fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"x"},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, claim)
	type descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	var layers []descriptor
	for _, key := range keys {
		signed, how := payload, crypto.Hash(0)
		if _, whole := key.(ed25519.PrivateKey); !whole {
			sum := sha256.Sum256(payload)
			signed, how = sum[:], crypto.SHA256
		}
		made, err := key.Sign(rand.Reader, signed, how)
		if err != nil {
			t.Fatal(err)
		}
		layers = append(layers, descriptor{"application/vnd.dev.cosign.simplesigning.v1+json", Sum(payload), len(payload),
			map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(made)}})
	}
	text, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": descriptor{"application/vnd.oci.image.config.v1+json", Sum([]byte("{}")), 2, nil}, "layers": layers})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs["/v2/"+repository+"/blobs/"+Sum(payload)] = payload
	s.tags[repository][strings.Replace(manifest, ":", "-", 1)+".sig"] = text
}
