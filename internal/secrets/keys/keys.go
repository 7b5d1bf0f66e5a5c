// Package keys is the only importer of age: it parses keys, and encrypts and decrypts with them.
package keys

import (
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/plugin"
)

// IsRecipient reports whether a string is an age public key: X25519, hybrid post-quantum or a
// plugin's (C2SP.org/age), or an SSH public key that age can encrypt to: ssh-ed25519 or ssh-rsa of
// 2048 bits or more.
func IsRecipient(s string) bool {
	if IsPlugin(s) {
		_, _, err := plugin.ParseRecipient(s)
		return err == nil
	}
	_, err := recipient(s)
	return err == nil
}

// IsPlugin reports whether a recipient belongs to a plugin, such as age1yubikey1…; only
// the plugin can encrypt to it.
func IsPlugin(s string) bool {
	return strings.HasPrefix(s, "age1") && strings.Count(s, "1") > 1 && !strings.HasPrefix(s, "age1pq1")
}

// IsSSH reports whether a recipient is an SSH public key.
func IsSSH(s string) bool { return strings.HasPrefix(s, "ssh-") }

// Bare returns a recipient without the comment of an SSH public key and without
// surrounding space.
func Bare(s string) string {
	s = strings.TrimSpace(s)
	if !IsSSH(s) {
		return s
	}
	if fields := strings.Fields(s); len(fields) > 2 {
		return strings.Join(fields[:2], " ")
	}
	return s
}

// recipient parses a public key as SOPS does, by its prefix. A plugin is not started
// until something is encrypted.
func recipient(s string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(s, "age1pq1"):
		return age.ParseHybridRecipient(s)
	case IsPlugin(s):
		return plugin.NewRecipient(s, noTerminal())
	case IsSSH(s):
		return agessh.ParseRecipient(s)
	}
	return age.ParseX25519Recipient(s)
}

// RecipientOf returns the public key of an age private key: X25519 or hybrid
// post-quantum. It returns false for a mistyped key.
func RecipientOf(identity string) (recipient string, ok bool) {
	if id, err := age.ParseX25519Identity(identity); err == nil {
		return id.Recipient().String(), true
	}
	if id, err := age.ParseHybridIdentity(identity); err == nil {
		return id.Recipient().String(), true
	}
	return "", false
}

// Generate generates an age key pair, X25519.
func Generate() (private, public string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return id.String(), id.Recipient().String(), nil
}
