package envelope

import (
	"slices"
	"time"

	"github.com/getsops/sops/v3"
	sopskeys "github.com/getsops/sops/v3/keys"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// Change is what a rule changes of who can read a file.
type Change struct {
	Added, Removed []secrets.Recipient
	// Groups says that recipients move between key groups, or that their number or the
	// threshold changes: the data key is shared out anew.
	Groups bool
}

// Any says whether anything changes.
func (c Change) Any() bool { return len(c.Added)+len(c.Removed) > 0 || c.Groups }

// Metadata tells, without any private key, who can read an encrypted file, whatever its format.
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

// Compare tells, without any private key, what a rule changes of an encrypted file.
func Compare(file string, data []byte, rule *secrets.CreationRule) (Change, error) {
	_, t, err := load(file, data, rule.Indents)
	if err != nil {
		return Change{}, err
	}
	return compare(&t.Metadata, rule), nil
}

// UpdateKeys gives an encrypted file to those that a rule names, and to no others, as "sops
// updatekeys" does: with the data key that it has, so that who could read the file before still
// knows it. The data keys of those who stay are kept as they are, whatever their service. The
// result is the data itself where nothing changes. Private keys are needed only where somebody is
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

// Rotate encrypts a file anew, with a new data key that only those know whom a rule names, or
// where the rule is nil, those who can read the file. Which values are encrypted stays.
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

// groupsOf are the recipients of a file.
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

// threshold is how many of a rule's groups are needed: as the rule says, or the file, or all.
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
		// One who stays in the file, but in another group.
		moved := append(without(without(have[i], rule.Groups[i]), change.Removed), without(without(rule.Groups[i], have[i]), change.Added)...)
		change.Groups = change.Groups || len(moved) > 0
	}
	return change
}

// without are the recipients that are not among others.
func without(all, others []secrets.Recipient) []secrets.Recipient {
	var left []secrets.Recipient
	for _, r := range all {
		if !slices.ContainsFunc(others, r.Same) && !slices.ContainsFunc(left, r.Same) {
			left = append(left, r)
		}
	}
	return left
}

// exchange takes out of each group who goes and adds who comes, to the part of the data key that
// the group has.
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
					return e.closed(&sops.Metadata{KeyGroups: []sops.KeyGroup{group}}, ids, 0, 1)
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

// regroup shares the data key out anew.
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
	return e.give(m, key, rule.Groups)
}
