package envelope

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/getsops/sops/v3"
	sopskeys "github.com/getsops/sops/v3/keys"
	"github.com/getsops/sops/v3/shamir"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// recipientOf returns the recipient for a key of SOPS.
func recipientOf(key sopskeys.MasterKey) secrets.Recipient {
	service, id := key.TypeToIdentifier(), key.ToString()
	switch service {
	case "kms":
		id, _, _ = strings.Cut(id, "|") // without the context and profile
	case "azure_kv":
		// The vault's URL may end with a slash, and so may a key without a version.
		id = strings.TrimSuffix(strings.Replace(id, "//keys/", "/keys/", 1), "/")
	}
	return secrets.Recipient{Service: service, ID: id}
}

// open returns the decrypted part of the data key for each group; nil for a group whose part no private key decrypts.
func (e *editor) open(m *sops.Metadata, ids *keys.Identities) ([][]byte, error) {
	parts := make([][]byte, len(m.KeyGroups))
	opened, corrupt := 0, (*Error)(nil)
	for i, group := range m.KeyGroups {
		part, broken := e.openGroup(group, ids)
		if parts[i] = part; part != nil {
			opened++
		}
		if corrupt == nil {
			corrupt = broken
		}
	}
	needed := needed(m)
	if opened >= needed {
		return parts, nil
	}
	if corrupt != nil {
		return nil, corrupt
	}
	return nil, e.noKeyError(m, ids, opened, needed)
}

// needed returns the number of groups that are needed to decrypt a file.
func needed(m *sops.Metadata) int {
	if len(m.KeyGroups) == 1 {
		return 1
	}
	if m.ShamirThreshold <= 0 || m.ShamirThreshold > len(m.KeyGroups) {
		return len(m.KeyGroups)
	}
	return m.ShamirThreshold
}

// openGroup decrypts a group's part with the first private key that can. If none can, it returns the error
// for a corrupt key.
func (e *editor) openGroup(group sops.KeyGroup, ids *keys.Identities) (part []byte, corrupt *Error) {
	for _, key := range group {
		r := recipientOf(key)
		if r.Service != "age" {
			continue
		}
		part, err := ids.Open(string(key.EncryptedDataKey()))
		switch {
		case err == nil:
			return part, nil
		case errors.Is(err, keys.ErrOther) && !slices.Contains(ids.Recipients, r.ID), corrupt != nil:
		default:
			line, column := e.recipientPosition(r)
			corrupt = &Error{Reason: Corrupt, File: e.file, Line: line, Column: column, Message: fmt.Sprintf("the data key for %s cannot be read: %v", r.ID, err),
				hint: "restore the file from before the change (git log -p), or run fleetwright secrets updatekeys --rotate with another key"}
		}
	}
	return nil, corrupt
}

// noKeyError returns the error that no private key decrypts a file. It lists the file's recipients, and the places that
// were searched for private keys.
func (e *editor) noKeyError(m *sops.Metadata, ids *keys.Identities, opened, needed int) error {
	var names []string
	for _, group := range m.KeyGroups {
		for _, key := range group {
			r := recipientOf(key)
			names = append(names, r.Service+" "+r.ID)
		}
	}
	line, column := e.metadataPosition()
	message := "no private key that is available locally opens this file; the private keys of these recipients do: " + strings.Join(names, ", ")
	if len(m.KeyGroups) > 1 {
		message = fmt.Sprintf("the private keys that are available locally open %d of the %d required key groups; keys of the groups: %s", opened, needed, strings.Join(names, ", "))
	}
	for _, problem := range ids.Problems {
		message += "\n  " + problem.Error()
	}
	hint := "set SOPS_AGE_KEY_FILE to a file with one of them"
	if ids.Len() == 0 && len(ids.Looked) > 0 {
		hint += "; no key found in " + strings.Join(ids.Looked, ", ")
	}
	return &Error{Reason: NoKey, File: e.file, Line: line, Column: column, Message: message, hint: hint}
}

// join combines the parts of the groups into the data key.
func (e *editor) join(m *sops.Metadata, parts [][]byte) ([]byte, error) {
	if len(m.KeyGroups) == 1 {
		return parts[0], nil
	}
	var have [][]byte
	for _, part := range parts {
		if part != nil {
			have = append(have, part)
		}
	}
	key, err := shamir.Combine(have)
	if err != nil {
		return nil, &Error{Reason: Corrupt, File: e.file, Message: "the data key cannot be combined from the parts of the key groups", hint: "restore the file from before the change (git log -p)"}
	}
	return key, nil
}
