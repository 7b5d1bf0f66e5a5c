package secrets

import (
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Metadata is the metadata that SOPS writes into an encrypted file.
type Metadata struct {
	// Groups of recipients; a single group if the file has no key groups.
	Groups [][]Recipient
	// Threshold is the number of groups that are needed to decrypt; 0 means all.
	Threshold int
	Selection
	// Line and Column of the key "sops".
	Line, Column int
}

// Recipients returns the recipients of all groups.
func (m *Metadata) Recipients() []Recipient {
	var all []Recipient
	for _, g := range m.Groups {
		all = append(all, g...)
	}
	return all
}

// fileFields maps the fields of the metadata to services, which have the same names.
var fileFields = map[string]string{"age": "age", "pgp": "pgp", "kms": "kms", "gcp_kms": "gcp_kms", "azure_kv": "azure_kv", "hc_vault": "hc_vault", "hckms": "hckms"}

// MetadataOf reads the metadata of an encrypted document.
// Source: github.com/getsops/sops/v3 v3.13 stores, metadata.
func MetadataOf(d *repository.Document) (*Metadata, bool) {
	n := d.Lookup("sops")
	if !d.Encrypted || n == nil {
		return nil, false
	}
	m := &Metadata{Selection: readSelection(n)}
	m.Line, m.Column = d.KeyPosition("sops")
	if threshold := repository.Lookup(n, "shamir_threshold"); threshold != nil {
		_ = threshold.Decode(&m.Threshold) // SOPS refuses other values; without a number, all groups are needed
	}
	groups := repository.Lookup(n, "key_groups")
	if one := recipientsIn(n, fileFields); len(one) > 0 || groups == nil || len(groups.Content) == 0 {
		m.Groups = [][]Recipient{one}
		return m, true
	}
	for i := range groups.Content {
		m.Groups = append(m.Groups, recipientsIn(repository.Lookup(groups, i), fileFields))
	}
	return m, true
}

// Opens reports whether a holder of age keys can decrypt the file. keys are the recipients of these keys. known is false
// if the file is also encrypted to other services, whose keys may be available.
func (m *Metadata) Opens(keys []string) (opens, known bool) {
	opened, others := 0, false
	for _, group := range m.Groups {
		found := false
		for _, r := range group {
			others = others || r.Service != "age"
			for _, key := range keys {
				found = found || r.Same(Recipient{Service: "age", ID: key})
			}
		}
		if found {
			opened++
		}
	}
	needed := m.Needed()
	return opened >= needed, opened >= needed || !others
}

// Needed returns the number of groups that are needed to decrypt the file.
func (m *Metadata) Needed() int {
	if m.Threshold <= 0 || m.Threshold > len(m.Groups) {
		return len(m.Groups)
	}
	return m.Threshold
}
