package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// The format of a cosign key: PKCS #8, encrypted with the password in COSIGN_PASSWORD. Source: sigstore/cosign,
// pkg/cosign/keys.go.
const (
	privateType = "ENCRYPTED SIGSTORE PRIVATE KEY"
	password    = "COSIGN_PASSWORD"
)

// keygen writes a key pair as "cosign generate-key-pair" does.
func keygen(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if private, err = encrypted.Encrypt(private, []byte(os.Getenv(password))); err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "cosign.key"), pem.EncodeToMemory(&pem.Block{Type: privateType, Bytes: private}), 0o600),
		os.WriteFile(filepath.Join(dir, "cosign.pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644),
	)
}

// readKey reads a PEM block with one of the types.
func readKey(file string, types ...string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || !strings.Contains(strings.Join(types, "\n"), block.Type) {
		return nil, fmt.Errorf("%s is not a key of cosign", file)
	}
	return block.Bytes, nil
}

// sign returns the signature of a content as "cosign sign-blob --key" writes it.
func sign(file string, content []byte) ([]byte, error) {
	block, err := readKey(file, privateType, "ENCRYPTED COSIGN PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	private, err := encrypted.Decrypt(block, []byte(os.Getenv(password)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	key, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s cannot sign", file)
	}
	digest := sha256.Sum256(content)
	signature, err := signer.Sign(rand.Reader, digest[:], crypto.SHA256)
	return []byte(base64.StdEncoding.EncodeToString(signature)), err
}

// verifySignature verifies a signature that sign returned.
func verifySignature(file string, content, signature []byte) error {
	block, err := readKey(file, "PUBLIC KEY")
	if err != nil {
		return err
	}
	public, err := x509.ParsePKIXPublicKey(block)
	if err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(string(signature))
	if err != nil {
		return err
	}
	digest := sha256.Sum256(content)
	if key, ok := public.(*ecdsa.PublicKey); !ok || !ecdsa.VerifyASN1(key, digest[:], raw) {
		return errors.New("the signature is not of this key")
	}
	return nil
}
