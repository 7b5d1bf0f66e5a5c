package envelope

import (
	"slices"
	"time"

	"github.com/getsops/sops/v3"
	sopskeys "github.com/getsops/sops/v3/keys"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// Change is the change of a file's recipients because of a rule.
type Change struct {
	Added, Removed []secrets.Recipient
	// Groups is set if recipients move between key groups, or if the number of groups or the
	// threshold changes: the data key is split again.
	Groups bool
}

// Any reports whether the recipients change.
func (c Change) Any() bool { return len(c.Added)+len(c.Removed) > 0 || c.Groups }

// Metadata returns, without any private key, the recipients of an encrypted file of any format.
func Metadata(file string, data []byte) (*secrets.Metadata, error) {
	e, t, err := load(file, data, secrets.Indents{})
	if err != nil {
		return nil, err
	}
	if err := e.checksum(&t.Metadata); err != nil {
		return nil, err
	}
	m := &secrets.Metadata{Groups: groupsOf(&t.Metadata), Threshold: t.Metadata.ShamirThreshold, Selection: secrets.Selection{
		EncryptedRegex: t.Metadata.EncryptedRegex, UnencryptedRegex: t.Metadata.UnencryptedRegex,
		EncryptedSuffix: t.Metadata.EncryptedSuffix, UnencryptedSuffix: t.Metadata.UnencryptedSuffix,
		EncryptedCommentRegex: t.Metadata.EncryptedCommentRegex, UnencryptedCommentRegex: t.Metadata.UnencryptedCommentRegex,
		MACOnlyEncrypted: t.Metadata.MACOnlyEncrypted,
	}}
	m.Line, m.Column = e.metadataPosition()
	return m, nil
}

// Compare returns, without any private key, the changes of a rule to the recipients of an encrypted
// file.
func Compare(file string, data []byte, rule *secrets.CreationRule) (Change, error) {
	_, t, err := load(file, data, rule.Indents)
	if err != nil {
		return Change{}, err
	}
	return compare(&t.Metadata, rule), nil
}

// UpdateKeys sets the recipients of an encrypted file to those of a rule, as "sops
// updatekeys" does. It keeps the data key, so that former recipients who could read the file still
// know it. It does not change the encrypted data keys of recipients that stay, whatever their service. If
// nothing changes, it returns the data unchanged. It needs private keys only if a recipient is
// added.
func UpdateKeys(file string, data []byte, rule *secrets.CreationRule, ids *keys.Identities) ([]byte, Change, error) {
	e, t, err := load(file, data, rule.Indents)
	if err != nil {
		return nil, Change{}, err
	}
	change := compare(&t.Metadata, rule)
	if !change.Any() {
		return data, change, nil
	}
	if err := usable(file, rule); err != nil {
		return nil, change, err
	}
	if change.Groups {
		err = e.regroup(&t.Metadata, rule, ids)
	} else {
		err = e.exchange(&t.Metadata, rule, ids)
	}
	if err != nil {
		return nil, change, err
	}
	out, err := e.emit(t)
	return out, change, err
}

// Rotate encrypts a file again, with a new data key for the recipients that a rule names, or for the
// current recipients if the rule is nil. The same values stay encrypted.
func Rotate(file string, data []byte, rule *secrets.CreationRule, ids *keys.Identities, now time.Time) ([]byte, Change, error) {
	e, t, err := open(file, data, ids)
	if err != nil {
		return nil, Change{}, err
	}
	groups, change := groupsOf(&t.Metadata), Change{}
	if rule != nil {
		if err := usable(file, rule); err != nil {
			return nil, change, err
		}
		change = compare(&t.Metadata, rule)
		groups, t.Metadata.ShamirThreshold = rule.Groups, threshold(&t.Metadata, rule)
		if e, err = newEditor(file, rule.Indents); err != nil {
			return nil, change, err
		}
	}
	t.Metadata.DataKey = nil
	if err := e.seal(t, groups, now); err != nil {
		return nil, change, err
	}
	out, err := e.emit(t)
	return out, change, err
}

// groupsOf returns the recipients of a file, by group.
func groupsOf(m *sops.Metadata) [][]secrets.Recipient {
	var groups [][]secrets.Recipient
	for _, keys := range m.KeyGroups {
		var group []secrets.Recipient
		for _, key := range keys {
			group = append(group, recipientOf(key))
		}
		groups = append(groups, group)
	}
	return groups
}

// threshold returns the number of a rule's groups that are needed to decrypt: the number in the rule, or else in the
// file, or else all groups.
func threshold(m *sops.Metadata, rule *secrets.CreationRule) int {
	if len(rule.Groups) < 2 {
		return 0
	}
	if rule.Threshold > 0 {
		return rule.Threshold
	}
	if m.ShamirThreshold > 1 && len(m.KeyGroups) > 1 {
		return min(m.ShamirThreshold, len(rule.Groups))
	}
	return len(rule.Groups)
}

func compare(m *sops.Metadata, rule *secrets.CreationRule) Change {
	have := groupsOf(m)
	all, wanted := slices.Concat(have...), slices.Concat(rule.Groups...)
	change := Change{Added: without(wanted, all), Removed: without(all, wanted)}
	if len(have) != len(rule.Groups) || len(have) > 1 && needed(m) != threshold(m, rule) {
		change.Groups = true
		return change
	}
	if len(have) < 2 {
		return change
	}
	for i := range have {
		// Recipients that stay in the file, but in another group.
		moved := append(without(without(have[i], rule.Groups[i]), change.Removed), without(without(rule.Groups[i], have[i]), change.Added)...)
		change.Groups = change.Groups || len(moved) > 0
	}
	return change
}

// without returns the recipients that are not among others.
func without(all, others []secrets.Recipient) []secrets.Recipient {
	var left []secrets.Recipient
	for _, r := range all {
		if !slices.ContainsFunc(others, r.Same) && !slices.ContainsFunc(left, r.Same) {
			left = append(left, r)
		}
	}
	return left
}

// exchange removes recipients from each group, and adds recipients by encrypting the group's part of the data key
// to them.
func (e *editor) exchange(m *sops.Metadata, rule *secrets.CreationRule, ids *keys.Identities) error {
	for i, group := range m.KeyGroups {
		var masters sops.KeyGroup
		var part []byte
		for _, r := range rule.Groups[i] {
			at := slices.IndexFunc(group, func(key sopskeys.MasterKey) bool { return r.Same(recipientOf(key)) })
			if at >= 0 {
				masters = append(masters, group[at])
				continue
			}
			if part == nil {
				opened, corrupt := e.openGroup(group, ids)
				if opened == nil && corrupt != nil {
					return corrupt
				}
				if opened == nil {
					return e.noKeyError(&sops.Metadata{KeyGroups: []sops.KeyGroup{group}}, ids, 0, 1)
				}
				part = opened
			}
			master, err := e.sealKey(r, part)
			if err != nil {
				return err
			}
			masters = append(masters, master)
		}
		m.KeyGroups[i] = masters
	}
	return nil
}

// regroup splits the data key again for the groups of a rule.
func (e *editor) regroup(m *sops.Metadata, rule *secrets.CreationRule, ids *keys.Identities) error {
	parts, err := e.open(m, ids)
	if err != nil {
		return err
	}
	key, err := e.join(m, parts)
	if err != nil {
		return err
	}
	m.ShamirThreshold = threshold(m, rule)
	return e.encryptKey(m, key, rule.Groups)
}
