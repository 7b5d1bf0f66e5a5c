// Package envelope is the only importer of SOPS: it encrypts files, opens them, and gives
// them to others. What it writes, the sops command reads, and the other way round.
//
// Of the key services it knows age alone, SSH keys included. Keys of others (PGP, the
// clouds' and Vault's) stay in a file as they are; what only they can do is refused, and
// no service is ever asked.
//
// Values in plaintext are in memory only. No error, and nothing that is logged, holds one.
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

// keyBytes is how long a data key is.
const keyBytes = 32

// Version is that of SOPS, which files name.
const Version = "3.13.3"

// Encrypt encrypts the text of a file as a creation rule says. The format is that of the
// file's name, as SOPS tells it: YAML, JSON, dotenv, INI, or any other as a whole. A text
// that is encrypted already, or of which the rule chooses nothing, is an error. The file
// says that it was encrypted at the time now.
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

// usable says whether something can be encrypted by a rule.
func usable(file string, rule *secrets.CreationRule) error {
	fail := func(reason Reason, hint, format string, args ...any) error {
		return &Error{Reason: reason, File: file, Message: fmt.Sprintf(format, args...), hint: hint}
	}
	if rule.Err != nil {
		return fail(Unusable, "mend the rule of .sops.yaml", "line %d of .sops.yaml: %s", rule.Err.Line, rule.Err.Message)
	}
	for _, text := range []string{rule.EncryptedRegex, rule.UnencryptedRegex, rule.EncryptedCommentRegex, rule.UnencryptedCommentRegex} {
		_, err := count.CompileShort(text)
		if above := (*count.Error)(nil); errors.As(err, &above) {
			return fail(Unusable, "write a shorter one", "the rule at line %d of .sops.yaml is not evaluated: %v", rule.Line, err)
		}
		if err != nil {
			return fail(Unusable, "mend the rule of .sops.yaml", "the rule at line %d of .sops.yaml chooses values by %q, which is no regular expression: sops takes it for one that matches nothing", rule.Line, text)
		}
	}
	for _, group := range rule.Groups {
		for _, r := range group {
			if r.Service == "age" && !keys.IsRecipient(strings.TrimSpace(r.ID)) {
				return fail(BadRecipient, "write the public key, age1…, that age-keygen -y prints, or one of SSH", "line %d of .sops.yaml: %q is no recipient of age", r.Line, r.ID)
			}
		}
		if len(group) == 0 {
			return fail(Unusable, "add a recipient to the rule", "the rule at line %d of .sops.yaml has no recipient, or a key group without one", rule.Line)
		}
	}
	if n := len(rule.Groups); n > 1 && (rule.Threshold < 0 || rule.Threshold == 1 || rule.Threshold > n) {
		return fail(Unusable, "mend shamir_threshold", "the rule at line %d of .sops.yaml has a shamir_threshold of %d for %d key groups: sops wants 2 or more, and no more than there are groups", rule.Line, rule.Threshold, n)
	}
	return nil
}

// seal encrypts a tree with a new data key, which it gives to groups of recipients.
func (e *editor) seal(t *sops.Tree, groups [][]secrets.Recipient, now time.Time) error {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("%s: %w", output.Line(e.file), err)
	}
	if err := e.give(&t.Metadata, key, groups); err != nil {
		return err
	}
	c := newCipher()
	mac, err := t.Encrypt(key, c)
	if err != nil {
		return &Error{Reason: Unusable, File: e.file, Message: "sops can't encrypt " + c.where(), hint: "see whether its keys are texts, and its values plain ones"}
	}
	if c.done == 0 {
		return &Error{Reason: Nothing, File: e.file, Message: "the rule chooses no value of the file: it would stay in plaintext as a whole", hint: "see encrypted_regex and its like in .sops.yaml"}
	}
	t.Metadata.LastModified = now.UTC()
	t.Metadata.MessageAuthenticationCode, err = c.Cipher.Encrypt(mac, key, t.Metadata.LastModified.Format(time.RFC3339))
	if err != nil {
		return &Error{Reason: Unusable, File: e.file, Message: "sops can't encrypt its checksum"}
	}
	return nil
}

// give encrypts a data key to groups of recipients, in parts where they are several.
func (e *editor) give(m *sops.Metadata, key []byte, groups [][]secrets.Recipient) error {
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

// split makes a part of a data key for each group: the whole for a single one.
func (e *editor) split(m *sops.Metadata, key []byte, groups int) ([][]byte, error) {
	if groups == 1 {
		return [][]byte{key}, nil
	}
	if m.ShamirThreshold == 0 {
		m.ShamirThreshold = groups
	}
	parts, err := shamir.Split(key, groups, m.ShamirThreshold)
	if err != nil {
		return nil, &Error{Reason: Unusable, File: e.file, hint: "give 2 to 255 key groups, and a shamir_threshold of 2 or more",
			Message: fmt.Sprintf("sops can't share a data key among %d key groups, any %d of them", groups, m.ShamirThreshold)}
	}
	return parts, nil
}

// sealKey encrypts a data key, or a part of one, to a recipient.
func (e *editor) sealKey(r secrets.Recipient, part []byte) (*sopsage.MasterKey, error) {
	if r.Service != "age" {
		return nil, &Error{Reason: OtherService, File: e.file, Message: fmt.Sprintf("%s %s: only sops encrypts to keys of this service, since it asks the service", r.Service, r.ID),
			hint: "run sops with access to it: sops encrypt --in-place for a new file, sops updatekeys or sops rotate --in-place for an encrypted one"}
	}
	armored, err := keys.Seal(r.ID, part)
	if err != nil {
		return nil, &Error{Reason: BadRecipient, File: e.file, Message: err.Error(), hint: hintOf(err)}
	}
	return &sopsage.MasterKey{Recipient: strings.TrimSpace(r.ID), EncryptedKey: armored}, nil
}

// Decrypt opens a file with private keys and gives its text in plaintext. The checksum must be
// right.
func Decrypt(file string, data []byte, ids *keys.Identities) ([]byte, error) {
	e, t, err := open(file, data, ids)
	if err != nil {
		return nil, err
	}
	plain, err := e.store.EmitPlainFile(t.Branches)
	if err != nil {
		return nil, &Error{Reason: Malformed, File: file, Message: "sops can't write what it holds"}
	}
	return plain, nil
}

// Check opens a file with private keys and forgets what it holds: an error says why it can't be
// opened, or that it was changed.
func Check(file string, data []byte, ids *keys.Identities) error {
	_, _, err := open(file, data, ids)
	return err
}

// open reads an encrypted file and decrypts it as a whole.
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

// decrypt decrypts the values of a tree and compares its checksum.
func (e *editor) decrypt(t *sops.Tree, key []byte) error {
	c := newCipher()
	mac, err := t.Decrypt(key, c)
	if err != nil {
		line, column := e.position(c.path, c.text)
		return &Error{Reason: Changed, File: e.file, Line: line, Column: column, Message: c.where() + " is not as it was encrypted: it was changed by hand, or merged",
			hint: "take the file from before the change (git log -p), or decrypt it with sops --ignore-mac and encrypt it anew"}
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
	return &Error{Reason: Changed, File: e.file, Line: line, Column: column, Message: "the checksum (sops.mac) doesn't match: a key or value was added, taken away or changed by hand",
		hint: "take the file from before the change (git log -p), or decrypt it with sops --ignore-mac, look at what it holds and encrypt it anew"}
}

// checksum says whether there is one, whatever it is.
func (e *editor) checksum(m *sops.Metadata) error {
	if mac := m.MessageAuthenticationCode; strings.HasPrefix(mac, "ENC[") && strings.HasSuffix(mac, "]") {
		return nil
	}
	line, column := e.metadataPosition("mac")
	return &Error{Reason: Malformed, File: e.file, Line: line, Column: column, Message: notWhole, hint: "take the file from before the change (git log -p)"}
}
