// Package envelope is the only importer of SOPS: it encrypts files, decrypts them, and updates their recipients. The sops
// command can read its files, and the other way round. It supports only age keys, including SSH keys. Keys of other
// services (PGP, the clouds' and Vault's) stay in a file unchanged. An operation that needs such a key is an error, and
// no service is ever contacted. Plaintext values are in memory only. No error, and no log message, contains one.
package envelope

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
	sopsage "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/shamir"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// keyBytes is the length of a data key in bytes.
const keyBytes = 32

// Version is the version of SOPS in the metadata of encrypted files.
const Version = "3.13.3"

// Encrypt encrypts the content of a file according to a creation rule. The end of the file's name determines the format,
// as in SOPS: YAML, JSON, dotenv, INI, or any other, which is encrypted as a whole. It returns an error if the content is
// already encrypted, or if the rule selects no value of it. now is the time of the encryption in the file's metadata.
func Encrypt(file string, plain []byte, rule *secrets.CreationRule, now time.Time) ([]byte, error) {
	e, err := newEditor(file, rule.Indents)
	if err != nil {
		return nil, err
	}
	if err := usable(file, rule); err != nil {
		return nil, err
	}
	branches, err := e.loadPlain(plain)
	if err != nil {
		return nil, err
	}
	s := rule.Selection
	if s.Chosen() == 0 && !e.whole() {
		s.UnencryptedSuffix = sops.DefaultUnencryptedSuffix
	}
	t := &sops.Tree{Branches: branches, Metadata: sops.Metadata{
		EncryptedRegex: s.EncryptedRegex, UnencryptedRegex: s.UnencryptedRegex,
		EncryptedSuffix: s.EncryptedSuffix, UnencryptedSuffix: s.UnencryptedSuffix,
		EncryptedCommentRegex: s.EncryptedCommentRegex, UnencryptedCommentRegex: s.UnencryptedCommentRegex,
		MACOnlyEncrypted: s.MACOnlyEncrypted, Version: Version, ShamirThreshold: rule.Threshold,
	}}
	if err := e.seal(t, rule.Groups, now); err != nil {
		return nil, err
	}
	return e.emit(t)
}

// usable returns an error if a rule cannot be used to encrypt.
func usable(file string, rule *secrets.CreationRule) error {
	fail := func(reason Reason, hint, format string, args ...any) error {
		return &Error{Reason: reason, File: file, Message: fmt.Sprintf(format, args...), hint: hint}
	}
	if rule.Err != nil {
		return fail(Unusable, "fix the rule of .sops.yaml", "line %d of .sops.yaml: %s", rule.Err.Line, rule.Err.Message)
	}
	for _, text := range []string{rule.EncryptedRegex, rule.UnencryptedRegex, rule.EncryptedCommentRegex, rule.UnencryptedCommentRegex} {
		_, err := count.CompileShort(text)
		if above := (*count.Error)(nil); errors.As(err, &above) {
			return fail(Unusable, "write a shorter regular expression", "the rule at line %d of .sops.yaml was not evaluated: %v", rule.Line, err)
		}
		if err != nil {
			return fail(Unusable, "fix the rule of .sops.yaml", "the rule at line %d of .sops.yaml selects values by %q, which is not a valid regular expression: sops treats it as one that matches nothing", rule.Line, text)
		}
	}
	for _, group := range rule.Groups {
		for _, r := range group {
			if r.Service == "age" && !keys.IsRecipient(strings.TrimSpace(r.ID)) {
				return fail(BadRecipient, "write the public key, age1…, that age-keygen -y prints, or an SSH public key", "line %d of .sops.yaml: %q is not an age recipient", r.Line, r.ID)
			}
		}
		if len(group) == 0 {
			return fail(Unusable, "add a recipient to the rule", "the rule at line %d of .sops.yaml has no recipient, or a key group without recipients", rule.Line)
		}
	}
	if n := len(rule.Groups); n > 1 && (rule.Threshold < 0 || rule.Threshold == 1 || rule.Threshold > n) {
		return fail(Unusable, "correct shamir_threshold", "the rule at line %d of .sops.yaml has a shamir_threshold of %d for %d key groups: sops requires at least 2, and at most the number of groups", rule.Line, rule.Threshold, n)
	}
	return nil
}

// seal encrypts a tree with a new data key, and encrypts the key to groups of recipients.
func (e *editor) seal(t *sops.Tree, groups [][]secrets.Recipient, now time.Time) error {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("%s: %w", output.Line(e.file), err)
	}
	if err := e.encryptKey(&t.Metadata, key, groups); err != nil {
		return err
	}
	c := newCipher()
	mac, err := t.Encrypt(key, c)
	if err != nil {
		return &Error{Reason: Unusable, File: e.file, Message: "sops cannot encrypt " + c.where(), hint: "check that its keys are strings and its values are scalars"}
	}
	if c.done == 0 {
		return &Error{Reason: Nothing, File: e.file, Message: "the rule selects no value of the file, so the whole file would stay in plaintext", hint: "check encrypted_regex and the similar fields in .sops.yaml"}
	}
	t.Metadata.LastModified = now.UTC()
	t.Metadata.MessageAuthenticationCode, err = c.Cipher.Encrypt(mac, key, t.Metadata.LastModified.Format(time.RFC3339))
	if err != nil {
		return &Error{Reason: Unusable, File: e.file, Message: "sops cannot encrypt the checksum of the file"}
	}
	return nil
}

// encryptKey encrypts a data key to groups of recipients; if there are several groups, each gets a part of the key.
func (e *editor) encryptKey(m *sops.Metadata, key []byte, groups [][]secrets.Recipient) error {
	parts, err := e.split(m, key, len(groups))
	if err != nil {
		return err
	}
	m.KeyGroups = nil
	for i, group := range groups {
		var masters sops.KeyGroup
		for _, r := range group {
			master, err := e.sealKey(r, parts[i])
			if err != nil {
				return err
			}
			masters = append(masters, master)
		}
		m.KeyGroups = append(m.KeyGroups, masters)
	}
	return nil
}

// split returns the part of a data key for each group: the whole key for a single one.
func (e *editor) split(m *sops.Metadata, key []byte, groups int) ([][]byte, error) {
	if groups == 1 {
		return [][]byte{key}, nil
	}
	if m.ShamirThreshold == 0 {
		m.ShamirThreshold = groups
	}
	parts, err := shamir.Split(key, groups, m.ShamirThreshold)
	if err != nil {
		return nil, &Error{Reason: Unusable, File: e.file, hint: "use 2 to 255 key groups, and a shamir_threshold of 2 or more",
			Message: fmt.Sprintf("sops cannot split a data key among %d key groups with a threshold of %d", groups, m.ShamirThreshold)}
	}
	return parts, nil
}

// sealKey encrypts a data key, or a part of one, to a recipient.
func (e *editor) sealKey(r secrets.Recipient, part []byte) (*sopsage.MasterKey, error) {
	if r.Service != "age" {
		return nil, &Error{Reason: OtherService, File: e.file, Message: fmt.Sprintf("%s %s: only sops can encrypt to keys of this service, because it contacts the service", r.Service, r.ID),
			hint: "run sops with access to the service: sops encrypt --in-place for a new file, sops updatekeys or sops rotate --in-place for an encrypted file"}
	}
	armored, err := keys.Seal(r.ID, part)
	if err != nil {
		return nil, &Error{Reason: BadRecipient, File: e.file, Message: err.Error(), hint: hintOf(err)}
	}
	return &sopsage.MasterKey{Recipient: strings.TrimSpace(r.ID), EncryptedKey: armored}, nil
}

// Decrypt decrypts a file with private keys and returns its plaintext. The checksum must match.
func Decrypt(file string, data []byte, ids *keys.Identities) ([]byte, error) {
	e, t, err := open(file, data, ids)
	if err != nil {
		return nil, err
	}
	plain, err := e.store.EmitPlainFile(t.Branches)
	if err != nil {
		return nil, &Error{Reason: Malformed, File: file, Message: "sops cannot write the content of the file"}
	}
	return plain, nil
}

// Check decrypts a file with private keys and discards the plaintext. The error is the reason why it cannot be decrypted,
// or reports that the file was changed.
func Check(file string, data []byte, ids *keys.Identities) error {
	_, _, err := open(file, data, ids)
	return err
}

// open reads and decrypts an encrypted file.
func open(file string, data []byte, ids *keys.Identities) (*editor, *sops.Tree, error) {
	e, t, err := load(file, data, secrets.Indents{})
	if err != nil {
		return nil, nil, err
	}
	parts, err := e.open(&t.Metadata, ids)
	if err != nil {
		return nil, nil, err
	}
	key, err := e.join(&t.Metadata, parts)
	if err != nil {
		return nil, nil, err
	}
	return e, t, e.decrypt(t, key)
}

// decrypt decrypts the values of a tree and verifies its checksum.
func (e *editor) decrypt(t *sops.Tree, key []byte) error {
	c := newCipher()
	mac, err := t.Decrypt(key, c)
	if err != nil {
		line, column := e.position(c.path, c.text)
		return &Error{Reason: Changed, File: e.file, Line: line, Column: column, Message: c.where() + " was changed after it was encrypted: it was edited by hand, or merged",
			hint: "restore the file from before the change (git log -p), or decrypt it with sops --ignore-mac and encrypt it again"}
	}
	m := t.Metadata
	if err := e.checksum(&m); err != nil {
		return err
	}
	want, err := c.Cipher.Decrypt(m.MessageAuthenticationCode, key, m.LastModified.Format(time.RFC3339))
	if err == nil && want == mac {
		return nil
	}
	line, column := e.metadataPosition("mac")
	return &Error{Reason: Changed, File: e.file, Line: line, Column: column, Message: "the checksum (sops.mac) does not match: a key or value was added, removed or changed by hand",
		hint: "restore the file from before the change (git log -p), or decrypt it with sops --ignore-mac, check its values and encrypt it again"}
}

// checksum returns an error if the metadata contain no checksum. It does not verify the checksum.
func (e *editor) checksum(m *sops.Metadata) error {
	if mac := m.MessageAuthenticationCode; strings.HasPrefix(mac, "ENC[") && strings.HasSuffix(mac, "]") {
		return nil
	}
	line, column := e.metadataPosition("mac")
	return &Error{Reason: Malformed, File: e.file, Line: line, Column: column, Message: notWhole, hint: "restore the file from before the change (git log -p)"}
}
