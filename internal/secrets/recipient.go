// Package secrets is the only importer of age: what is a key, and whose.
package secrets

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
