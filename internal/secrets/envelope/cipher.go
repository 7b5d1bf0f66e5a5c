package envelope

import (
	"errors"
	"strings"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
)

// cipher is SOPS's cipher. It records the value at which it failed, because SOPS's errors quote values.
type cipher struct {
	aes.Cipher
	// done counts the values that were encrypted.
	done int
	// path and text are the path and the string of the value at which it failed.
	path, text string
}

var _ sops.Cipher = (*cipher)(nil)

func newCipher() *cipher { return &cipher{Cipher: aes.NewCipher()} }

var errValue = errors.New("a value")

// Encrypt encrypts a value of the tree.
func (c *cipher) Encrypt(plain any, key []byte, path string) (string, error) {
	text, err := c.Cipher.Encrypt(plain, key, path)
	if err != nil {
		c.path = path
		return "", errValue
	}
	if text != "" {
		c.done++
	}
	return text, nil
}

// Decrypt decrypts a value of the tree.
func (c *cipher) Decrypt(text string, key []byte, path string) (any, error) {
	plain, err := c.Cipher.Decrypt(text, key, path)
	if err != nil {
		c.path, c.text = path, text
		return nil, errValue
	}
	return plain, nil
}

// where returns the name of the value at which it failed.
func (c *cipher) where() string {
	path := strings.TrimSuffix(c.path, ":")
	if path == "" {
		return "a value"
	}
	return "the value at " + strings.ReplaceAll(path, ":", ".")
}
