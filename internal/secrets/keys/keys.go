// Package keys is the only importer of age: what is a key, and whose.
package keys

import (
	"filippo.io/age"
	"filippo.io/age/plugin"
)

// IsRecipient says whether a string is a public key of age: X25519, hybrid
// post-quantum or a plugin's (C2SP.org/age).
func IsRecipient(s string) bool {
	if _, err := age.ParseX25519Recipient(s); err == nil {
		return true
	}
	if _, err := age.ParseHybridRecipient(s); err == nil {
		return true
	}
	_, _, err := plugin.ParseRecipient(s)
	return err == nil
}

// RecipientOf is the public key of a private key of age: X25519 or hybrid
// post-quantum. A key with a mistyped letter is none.
func RecipientOf(identity string) (recipient string, ok bool) {
	if id, err := age.ParseX25519Identity(identity); err == nil {
		return id.Recipient().String(), true
	}
	if id, err := age.ParseHybridIdentity(identity); err == nil {
		return id.Recipient().String(), true
	}
	return "", false
}
