// Package keys is the only importer of age: what is a key, whose, and what it opens.
package keys

import (
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/plugin"
)

// IsRecipient says whether a string is a public key of age: X25519, hybrid
// post-quantum or a plugin's (C2SP.org/age), or a public key of SSH that age
// encrypts to: ssh-ed25519 or ssh-rsa of 2048 bits or more.
func IsRecipient(s string) bool {
	if IsPlugin(s) {
		_, _, err := plugin.ParseRecipient(s)
		return err == nil
	}
	_, err := recipient(s)
	return err == nil
}

// IsPlugin says whether a recipient is of a plugin's kind, such as age1yubikey1…, to
// which only the plugin encrypts.
func IsPlugin(s string) bool {
	return strings.HasPrefix(s, "age1") && strings.Count(s, "1") > 1 && !strings.HasPrefix(s, "age1pq1")
}

// IsSSH says whether a recipient is a public key of SSH.
func IsSSH(s string) bool { return strings.HasPrefix(s, "ssh-") }

// Bare is a recipient without what is not of the key: the comment of a public key of
// SSH, and space around it.
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

// recipient reads a public key as SOPS does, by how it begins. A plugin is not started
// before something is encrypted.
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

// Generate makes a new key pair of age, X25519.
func Generate() (private, public string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return id.String(), id.Recipient().String(), nil
}
