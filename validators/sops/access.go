package sops

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Access is the matrix of encrypted files and the holders of keys.
type Access struct {
	// Holders are the holders that the specification's Encryption names, followed by those with other keys.
	Holders []secrets.Holder
	// Files are the files in the order of their paths.
	Files []FileAccess

	ruling func(file string) (ruling, bool)
}

// FileAccess describes who can read a file, and who should be able to.
type FileAccess struct {
	File string
	Line int
	// Config and Rule are the .sops.yaml and the line of the rule for the file; "" and 0 if there is none.
	Config string
	Rule   int
	// Specified reports whether the rule comes from the specification, as it would be rendered.
	Specified bool
	// Groups is the number of the file's key groups. Needed is the number of groups that are required to
	// decrypt it.
	Groups, Needed int
	// Cells has an entry for each holder that can read the file, or should be able to.
	Cells []Cell
}

// Cell describes whether a holder can read a file, and whether it should be able to.
type Cell struct {
	// Holder is an index of Access.Holders.
	Holder int
	// Recipient reports whether the file is encrypted to a key of the holder. Alone reports whether this key is
	// enough to decrypt it; otherwise other key groups are required, too.
	Recipient, Alone bool
	// Named reports whether the rule of .sops.yaml names a key of the holder.
	Named bool
	// Applies are the Kustomizations of the holder's clusters that apply objects from the file.
	Applies []string
}

// Should reports whether the holder should be able to read the file.
func (c Cell) Should() bool { return c.Named || len(c.Applies) > 0 }

// AccessRules returns the rules about access to files. They report a file that a holder can read but should not, that a
// holder should be able to read but cannot, or that is in plaintext. One more rule writes the matrix that these rules use
// to into.
func AccessRules(into *Access) []rule.Rule {
	return []rule.Rule{RecipientMissing, RecipientStale, RuleMissing, DecryptionMissing, Undecryptable, Plaintext, Partial, {
		ID: "sops-access", Run: func(p *rule.Pass) { *into = accessOf(p) },
	}}
}

func accessOf(p *rule.Pass) Access {
	a := Access{Holders: []secrets.Holder{}, Files: []FileAccess{}, ruling: func(file string) (ruling, bool) { return rulingOf(p, file) }}
	if found := secrets.Encryptions(p.Repo); len(found) == 1 {
		a.Holders = secrets.Holders(found[0])
	}
	reported, applied := map[string]bool{}, appliedBy(p)
	for _, e := range ciphertexts.Of(p) {
		if file := e.File.Path; !reported[file] && real(p, file) {
			reported[file] = true
			a.add(file, e.meta, applied[file])
		}
	}
	return a
}

// Add adds a file that is not YAML, by its path in the repository and its metadata. It skips a file in a folder
// of examples.
func (a *Access) Add(file string, m *secrets.Metadata) {
	if !repository.IsExample(file) {
		a.add(file, m, nil)
	}
}

func (a *Access) add(file string, m *secrets.Metadata, applied map[string][]string) {
	f := FileAccess{File: file, Line: m.Line, Groups: len(m.Groups), Needed: m.Needed()}
	var named []secrets.Recipient
	if r, ok := a.ruling(file); ok {
		f.Config, f.Rule, f.Specified, named = r.config.File, r.Line, r.specified, r.Recipients
	}
	a.addHolders(slices.Concat(m.Recipients(), named))
	for i, h := range a.Holders {
		cell := Cell{Holder: i, Recipient: holds(h, m.Recipients()), Named: holds(h, named), Applies: applied[h.String()]}
		cell.Alone = cell.Recipient && f.Needed == 1
		if cell.Recipient && f.Needed > 1 {
			cell.Alone, _ = m.Opens(ids(h))
		}
		if cell.Recipient || cell.Should() {
			f.Cells = append(f.Cells, cell)
		}
	}
	a.Files = append(a.Files, f)
	sorting.StableFunc(a.Files, func(x, y FileAccess) int { return cmp.Compare(x.File, y.File) })
}

// addHolders adds holders for recipients that no known holder has.
func (a *Access) addHolders(all []secrets.Recipient) {
	for _, r := range all {
		if !slices.ContainsFunc(a.Holders, func(h secrets.Holder) bool { return slices.ContainsFunc(h.Keys, r.Same) }) {
			a.Holders = append(a.Holders, secrets.Holder{Scope: secrets.Unknown, Name: r.Service + " " + r.ID, Keys: []secrets.Recipient{r}})
		}
	}
}

func holds(h secrets.Holder, recipients []secrets.Recipient) bool {
	return slices.ContainsFunc(h.Keys, func(key secrets.Recipient) bool { return slices.ContainsFunc(recipients, key.Same) })
}

func ids(h secrets.Holder) []string {
	var all []string
	for _, key := range h.Keys {
		all = append(all, key.ID)
	}
	return all
}

// appliedBy returns, for each file, the Kustomizations that apply an encrypted object of it, by the holder that
// decrypts for them.
func appliedBy(p *rule.Pass) map[string]map[string][]string {
	by := map[string]map[string][]string{}
	known := knownKeys(p.Repo)
	if known == nil {
		return by
	}
	for _, c := range p.Clusters() {
		for _, k := range c.Kustomizations {
			holder, _ := known.of(k)
			if holder == "" || k.Spec.Suspend {
				continue
			}
			for _, o := range k.Objects {
				if !o.Encrypted || o.Source == nil {
					continue
				}
				if by[o.File] == nil {
					by[o.File] = map[string][]string{}
				}
				if what := fmt.Sprintf("Kustomization %s of %s", k, c.Name); !slices.Contains(by[o.File][holder], what) {
					by[o.File][holder] = append(by[o.File][holder], what)
				}
			}
		}
	}
	return by
}
